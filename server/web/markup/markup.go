// Package markup executes HTML templates in the syntax of [text/template], and escapes
// what they print. It is a strict part of html/template: actions print text or quoted
// attribute values, and call no methods. A template that prints anywhere else fails where it
// does: the place of each action is known from the text that was written before it.
//
// The reason is the size of the program. text/template looks methods up by name, and
// the linker then keeps each exported method of each type: 4.0 of 33.8 MB. The tests
// compare the output with html/template's, byte for byte.
//
// Start with [Parse].
package markup

import (
	"cmp"
	"io"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"text/template/parse"
)

// Parse parses files. The base name of each file, and each name that it defines, is
// the name of a template. Nil options have no functions.
func Parse(files fs.FS, names []string, options *Options) (*Template, error) {
	options = cmp.Or(options, &Options{})
	t := &Template{
		functions: map[string]reflect.Value{}, methods: map[string][]reflect.Value{},
		trees: map[string]*parse.Tree{},
	}
	for _, functions := range []map[string]any{builtins(), options.Functions} {
		for name, function := range functions {
			t.functions[name] = reflect.ValueOf(function)
		}
	}
	for name, methods := range options.Methods {
		for _, method := range methods {
			t.methods[name] = append(t.methods[name], reflect.ValueOf(method))
		}
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		trees, err := parse.Parse(path.Base(name), string(text), "", "", options.Functions, builtins())
		if err != nil {
			return nil, err
		}
		maps.Copy(t.trees, trees)
	}
	return t, nil
}

// Execute writes the template name for data. An error leaves a part of it written.
func (t *Template) Execute(w io.Writer, name string, data any) error {
	e := &execution{template: t, w: w}
	return e.execute(name, reflect.ValueOf(data))
}
