// Package form makes the fields of an HTML form from a JSON Schema, and reads the values
// of the schema back from what a browser sends.
//
// Start with [New].
package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// A Form is a form for one JSON object. It is for one goroutine.
type Form struct {
	Fields []*Field
	// Errors concern the whole form, after [Form.Read]; Invalid reports that there are some,
	// or of fields.
	Errors  []string
	Invalid bool

	schema *schema.Schema
}

// New returns the form of a schema, whose properties become fields in their order. IDs of
// elements begin with prefix. The error is that the schema cannot be used.
func New(document []byte, prefix string) (*Form, error) {
	compiled, err := schema.Compile(document, "")
	if err != nil {
		return nil, err
	}
	var object struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(document, &object); err != nil {
		return nil, err
	}
	f := &Form{schema: compiled}
	err = eachMember(object.Properties, func(name string, value json.RawMessage) {
		f.Fields = append(f.Fields, newField(name, value, prefix+strconv.Itoa(len(f.Fields))))
	})
	for _, name := range object.Required {
		if field := f.field(name); field != nil {
			field.require()
		}
	}
	return f, err
}

// eachMember calls do for the members of a JSON object, in their order.
func eachMember(object json.RawMessage, do func(name string, value json.RawMessage)) error {
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return errors.Join(errors.New("the properties are no object"), err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		do(name.(string), value)
	}
	return nil
}

func (f *Form) field(name string) *Field {
	for _, field := range f.Fields {
		if field.Name == name {
			return field
		}
	}
	return nil
}

// Fill writes values into the fields: those that are left out become empty.
func (f *Form) Fill(values map[string]any) {
	for _, field := range f.Fields {
		value, ok := values[field.Name]
		field.fill(value, ok)
	}
}

// Read returns the object that a browser's form has, with values of encoding/json. The
// fields keep what was typed, with an error each where it is wrong; see Invalid.
func (f *Form) Read(sent url.Values) map[string]any {
	args := map[string]any{}
	for _, field := range f.Fields {
		value, given, err := field.read(sent[field.Control()])
		switch {
		case err != nil:
			field.Error, f.Invalid = err.Error(), true
		case given:
			args[field.Name] = value
		}
	}
	f.check(args)
	return args
}

// check sorts the faults of the whole to the fields that they name.
func (f *Form) check(args map[string]any) {
	wrong, ok := errors.AsType[*schema.ArgumentError](f.schema.CheckArguments(args))
	if !ok {
		return
	}
	for _, fault := range wrong.Faults {
		if field := f.named(fault); field == nil {
			f.Errors, f.Invalid = append(f.Errors, fault), true
		} else if field.Error == "" {
			field.Error, f.Invalid = strings.TrimPrefix(fault, strconv.Quote(field.Name)+" "), true
		}
	}
}

// named returns the field that a fault names first, or nil.
func (f *Form) named(fault string) (found *Field) {
	first := len(fault)
	for _, field := range f.Fields {
		if at := strings.Index(fault, strconv.Quote(field.Name)); at >= 0 && at < first {
			first, found = at, field
		}
	}
	return found
}
