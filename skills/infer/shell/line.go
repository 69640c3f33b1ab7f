package shell

import "github.com/invopop/jsonschema"

// A CommandLine is a script's options and positional arguments. It is immutable.
type CommandLine struct {
	leading     []positional // before the options
	options     []option
	positionals []positional // behind the options

	terminator bool // "--" ends the options
	inLoop     bool // positionals are read as options are, without a terminator
	notEmpty   bool // the script stops reading at an empty argument
}

// An option is an argument that begins with -.
type option struct {
	name     string // of the property
	flag     string // as it is passed, such as "--name" or "-n"
	variable string // of the script; "" is unknown
	kind     kind
	repeated bool // each value is added to an array
	required bool
	fallback string // the default; "" is unknown
	help     string
}

// A kind is the place of an option's value.
type kind int

const (
	flag   kind = iota // it takes none
	next               // in the next argument
	joined             // behind a =
)

// A positional is an argument with a fixed place.
type positional struct {
	name     string
	index    int // from 1
	required bool
	fallback string
	rest     bool   // all arguments from here on
	choices  []any  // the only values; nil is any
	careful  string // the reason why a value must not begin with -, or ""
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

// properties returns the number of options and positionals.
func (c *CommandLine) properties() int {
	return len(c.leading) + len(c.options) + len(c.positionals)
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
