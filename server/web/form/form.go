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
	"slices"
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
	f := &Form{schema: compiled}
	f.Fields, err = newFields(document, "", prefix)
	return f, err
}

// newFields returns the fields of an object, which has a path.
func newFields(document json.RawMessage, path, prefix string) (all []*Field, err error) {
	var object struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(document, &object); err != nil {
		return nil, err
	}
	err = eachMember(object.Properties, func(name string, value json.RawMessage) {
		all = append(all, newField(path, name, value, prefix+strconv.Itoa(len(all))))
	})
	for _, field := range all {
		if slices.Contains(object.Required, field.Name) {
			field.require()
		}
	}
	return all, err
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

// Fill writes values into the fields: those that are left out become empty, but for boxes,
// which keep their default.
func (f *Form) Fill(values map[string]any) { fill(f.Fields, values) }

// Read returns the object that a browser's form has, with values of encoding/json. The
// fields keep what was typed, with an error each where it is wrong; see Invalid.
func (f *Form) Read(sent url.Values) map[string]any {
	args := map[string]any{}
	for _, field := range f.Fields {
		value, given, err := field.read(sent)
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

// Grow adds a row to each list of objects whose last one was filled in, and forgets what is
// wrong: the form is not sent yet.
func (f *Form) Grow() {
	f.Errors, f.Invalid = nil, false
	forget(f.Fields)
}

// HasRows reports whether a field is a list of objects.
func (f *Form) HasRows() bool { return hasRows(f.Fields) }

// Texts returns the fields of texts of several lines, also those of objects, but not of
// lists.
func (f *Form) Texts() []*Field { return texts(f.Fields) }

func texts(fields []*Field) (all []*Field) {
	for _, field := range fields {
		if field.Kind == Long {
			all = append(all, field)
		}
		if field.Kind == Object {
			all = append(all, texts(field.Groups[0].Fields)...)
		}
	}
	return all
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
