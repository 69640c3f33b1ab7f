package markup

import (
	"reflect"
	"text/template/parse"
)

// HTML is text that is printed as it is. In an attribute value it is escaped like any
// other text.
type HTML string

// Options are the functions of templates. Each returns one value, or a value and an error.
type Options struct {
	Functions map[string]any
	// Methods are the methods that templates may call, as method expressions by their
	// names: {"String": {time.Duration.String}}.
	Methods map[string][]any
}

// A Template is a set of parsed templates. It is safe for concurrent use.
type Template struct {
	functions map[string]reflect.Value
	methods   map[string][]reflect.Value
	trees     map[string]*parse.Tree
}
