package shell

import (
	"slices"

	"github.com/invopop/jsonschema"
)

// A CommandLine is a script's options and positional arguments. It is immutable.
type CommandLine struct {
	leading     []argument // before the options
	options     []argument
	positionals []argument // behind the options

	terminator bool // "--" ends the options
	inLoop     bool // the script reads positionals where it reads options, without a terminator
	stdin      bool // it takes none, and reads its standard input
}

// ReadsStdin reports whether a script without arguments reads its standard input.
func (c *CommandLine) ReadsStdin() bool { return c.stdin }

// An argument is an option or a positional of a script.
type argument struct {
	name     string // of the property
	kind     kind
	list     bool // each value of an array is passed; of a positional, all arguments from here on
	required bool
	fallback string // the default; "" is unknown

	// Of an option:
	flag     string // as it is passed, such as "--name" or "-n"
	variable string // of the script; "" is unknown
	help     string

	// Of a positional:
	index   int    // from 1
	choices []any  // the only values; nil is any
	title   string // its name in the usage line
	careful string // the reason why a value must not begin with -, or ""
}

// A kind is the place of an argument's value.
type kind int

const (
	positional kind = iota
	flag            // an option without a value
	next            // in the argument behind the option
	joined          // behind the option and a =
)

// Schema returns the JSON Schema (2020-12) of the arguments: an object with a
// property for each option and positional.
func (c *CommandLine) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for _, a := range slices.Concat(c.leading, c.options, c.positionals) {
		s.Properties.Set(a.name, a.schema())
		if a.required {
			s.Required = append(s.Required, a.name)
		}
	}
	return s
}

func (a argument) schema() *jsonschema.Schema {
	switch {
	case a.kind == flag:
		return &jsonschema.Schema{Type: "boolean", Description: a.help}
	case a.list:
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string", Enum: a.choices}, Description: a.help}
	}
	s := &jsonschema.Schema{Type: "string", Enum: a.choices, Description: a.help}
	if a.fallback != "" {
		s.Default = a.fallback
	}
	return s
}
