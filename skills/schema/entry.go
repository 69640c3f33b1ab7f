package schema

import (
	"errors"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
)

// compiled are the schemas of an entry.
type compiled struct{ arguments, output *Schema }

func compiledOf(e *skills.Entry) *compiled {
	return e.Compiled(func() any { return &compiled{New(e.Schema()), New(e.Output)} }).(*compiled)
}

// Validate checks arguments, values of encoding/json, against the entry's schema.
// It returns an [*ArgumentError], or nil.
func Validate(e *skills.Entry, args map[string]any) error {
	return compiledOf(e).arguments.CheckArguments(args)
}

// CheckOutput checks a script's result, a JSON object or nil, against the schema
// that the entry declares. The error says where they differ.
func CheckOutput(e *skills.Entry, object []byte) error {
	if e == nil || e.Output == nil {
		return nil
	}
	if object == nil {
		return errors.New("it is not one JSON object")
	}
	return compiledOf(e).output.checkOutput(object)
}

// accepts reports whether a value of encoding/json is valid for the parameter. It is
// false where the parameter's own schema alone cannot tell.
func accepts(p skills.Param, value any) bool {
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	object.Properties.Set(p.Name, p.Schema)
	return New(object).CheckArguments(map[string]any{p.Name: value}) == nil
}

// Undeclared returns the arguments that nobody declared and that are passed on as
// they are, sorted. The error is an [*ArgumentError] where one of them is nearly
// the name of a parameter that was not given: it is that one, misspelt.
func Undeclared(e *skills.Entry, args map[string]any) ([]string, error) {
	passing := e.Passing()
	if in, input := passing.(skills.Input); input && in.Object != nil {
		return nil, nil // its author's schema decides
	}
	var names []string
	for _, p := range e.Params() {
		names = append(names, p.Name)
	}
	unknown, err := Misspelt(append(names, e.Placeholders()...), args)
	if len(names) == 0 {
		return nil, err // it declares none at all
	}
	return unknown, err
}

// ReadText returns the value of one of the entry's parameters that a person wrote
// as text. What does not fit the parameter's type stays text, and is reported when
// the arguments are checked. An array is a []any: all of it where the text is JSON,
// else the text as its one item.
func ReadText(e *skills.Entry, p skills.Param, text string) any {
	value, err := skills.DecodeJSON(text)
	switch p.Schema.Type {
	case "": // of several types, or any
		_, flags := e.Passing().(skills.Flags) // which pass text as it is
		if err == nil && !flags && accepts(p, value) {
			return value
		}
	case "integer", "number", "boolean", "object":
		if err == nil {
			return value
		}
	case "array":
		return readItems(p, text, value, err)
	}
	return text
}

func readItems(p skills.Param, text string, value any, err error) []any {
	if all, ok := value.([]any); ok {
		return all
	}
	if err == nil && p.Schema.Items != nil && p.Schema.Items.Type != "string" && p.Schema.Items.Type != "" {
		return []any{value}
	}
	return []any{text}
}
