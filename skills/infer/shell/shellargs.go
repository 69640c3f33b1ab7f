// Package shell reads how a shell script is called from the script's text:
// its getopts, its loop over options with a case, or its positional parameters.
// It runs nothing, and reads only what is plain: where a script does more than
// the few forms that are known, it is not read at all.
//
// Start with [Read].
package shell

import (
	"bytes"
	"strings"

	"github.com/invopop/jsonschema"
	"mvdan.cc/sh/v3/syntax"
)

// The most of a script that is read. The parser needs about 2 KiB of memory for
// each bracket that is open, so their number is bounded too.
const (
	maxSource   = 64 << 10 // bytes
	maxBrackets = 3000
	maxOptions  = 128
)

// A CommandLine is what a script accepts. It is not changed once it is read.
type CommandLine struct {
	// Description is what the script says of itself: the text of its function
	// usage, or the comment at its top. It is at most 2 KiB.
	Description string

	leading     []positional // taken before the options
	options     []option
	positionals []positional // behind the options
	// terminator says that "--" ends the options.
	terminator bool
	// inLoop says that positionals stand where options do, without a
	// terminator.
	inLoop bool
	// notEmpty says that the script ends at an empty argument.
	notEmpty bool
}

// An option is one that begins with -.
type option struct {
	name     string // of the property
	flag     string // as it is passed, such as "--name" or "-n"
	variable string // what the script sets; "" where that is not plain
	kind     kind
	repeated bool // each value is added to an array
	required bool
	fallback string // what holds without it; "" is unknown
	help     string
}

// A kind is how an option takes its value.
type kind int

const (
	flag   kind = iota // it has none
	next               // in the next argument
	joined             // behind a =
)

// A positional is an argument that its place tells.
type positional struct {
	name     string
	index    int // from 1
	required bool
	fallback string
	rest     bool   // it is all arguments from here on
	choices  []any  // the only values; nil is any
	careful  string // why a value that begins with - is read as something else; "" where it is not
}

// Read returns what a script, as bash or sh reads it, accepts. It is nil where
// that is not plain, or where the script takes no arguments. The time grows with
// the size of the source.
func Read(source []byte) *CommandLine {
	if len(source) > maxSource || bytes.IndexByte(source, 0) >= 0 || brackets(source) > maxBrackets {
		return nil
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(source), "\uFEFF"), "\r\n", "\n")
	parser := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash))
	file, err := parser.Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	r := &reader{functions: functionsOf(file), line: &CommandLine{}}
	if shadows(r.functions) || !r.read(r.flatten(file.Stmts, 0, false)) {
		return nil
	}
	usage := usageText(r.functions)
	r.line.Description = bound(usage)
	if usage == "" {
		r.line.Description = bound(topComment(file))
	}
	r.line.explain(usage + "\n" + topComment(file))
	return r.line
}

func brackets(source []byte) int {
	return bytes.Count(source, []byte("(")) + bytes.Count(source, []byte("["))
}

// Schema returns the JSON Schema (2020-12) of the arguments: an object with a
// property for each option and positional.
func (c *CommandLine) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for _, p := range c.leading {
		p.describe(s)
	}
	for _, o := range c.options {
		o.describe(s)
	}
	for _, p := range c.positionals {
		p.describe(s)
	}
	return s
}

func (o option) describe(s *jsonschema.Schema) {
	property := &jsonschema.Schema{Type: "string", Description: o.help}
	switch {
	case o.kind == flag:
		property.Type = "boolean"
	case o.repeated:
		property = &jsonschema.Schema{Type: "array", Items: property, Description: o.help}
		property.Items.Description = ""
	case o.fallback != "":
		property.Default = o.fallback
	}
	s.Properties.Set(o.name, property)
	if o.required {
		s.Required = append(s.Required, o.name)
	}
}

func (p positional) describe(s *jsonschema.Schema) {
	property := &jsonschema.Schema{Type: "string", Enum: p.choices}
	if p.rest {
		property = &jsonschema.Schema{Type: "array", Items: property}
	}
	if p.fallback != "" {
		property.Default = p.fallback
	}
	s.Properties.Set(p.name, property)
	if p.required {
		s.Required = append(s.Required, p.name)
	}
}
