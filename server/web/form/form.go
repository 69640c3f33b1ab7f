// Package form makes the fields of an HTML form from a JSON Schema, and reads the values
// of the schema back from what a browser sends.
//
// Start with [New].
package form

import (
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

	schema   *schema.Schema
	document []byte
	prefix   string     // of IDs
	whole    []string   // the properties that are fields for JSON, whatever the schema says
	needed   [][]string // paths in the objects that there are in any case
}

// maxDepth bounds the objects in objects whose properties are fields: deeper ones are fields
// for JSON.
const maxDepth = 3

// New returns the form of a schema, whose properties become fields in their order, those of
// objects in their place. IDs of elements begin with prefix. The error is that the schema
// cannot be used.
func New(document []byte, prefix string) (*Form, error) {
	compiled, err := schema.Compile(document, "")
	if err != nil {
		return nil, err
	}
	f := &Form{schema: compiled, document: document, prefix: prefix}
	return f, f.add(document, nil, false)
}

// add adds the fields of the object at a path. free says that the object may be left out.
func (f *Form) add(document json.RawMessage, path []string, free bool) error {
	object := newProperty(document)
	return eachMember(object.Properties, func(name string, value json.RawMessage) {
		at, required := append(slices.Clone(path), name), slices.Contains(object.Required, name)
		free, first, member := free || !required, len(f.Fields), newProperty(value)
		if member.Type == "object" && member.Default == nil && len(at) <= maxDepth && !slices.Contains(f.whole, at[0]) && f.add(value, at, free) == nil && len(f.Fields) > first {
			f.Fields[first].Help = strings.TrimSpace(member.Description + " " + f.Fields[first].Help)
			if !free {
				f.needed = append(f.needed, append(at, ""))
			}
			return
		}
		field := newField(at, value, f.prefix+strconv.Itoa(len(f.Fields)))
		if required {
			field.require()
		}
		field.free = len(path) > 0 && free
		f.Fields = append(f.Fields, field)
	})
}

// keepWhole makes properties of the form fields for JSON.
func (f *Form) keepWhole(names []string) {
	if len(names) > 0 {
		f.Fields, f.needed, f.whole = nil, nil, append(f.whole, names...)
		_ = f.add(f.document, nil, false) // as before
	}
}

// fits reports whether the fields have all of a value at a path.
func (f *Form) fits(path []string, value any) bool {
	if slices.ContainsFunc(f.Fields, func(field *Field) bool { return slices.Equal(field.path, path) }) {
		return true
	}
	object, ok := value.(map[string]any)
	for name, member := range object {
		ok = ok && f.fits(append(slices.Clone(path), name), member)
	}
	return ok && slices.ContainsFunc(f.Fields, func(field *Field) bool {
		return len(field.path) > len(path) && slices.Equal(field.path[:len(path)], path)
	})
}

// Fill writes values into the fields: those that are left out become empty, but for boxes,
// which keep their default. An object with more than its fields becomes a field for JSON.
func (f *Form) Fill(values map[string]any) {
	var whole []string
	for name, value := range values {
		if !f.fits([]string{name}, value) {
			whole = append(whole, name)
		}
	}
	f.keepWhole(whole)
	for _, field := range f.Fields {
		around := objectAt(values, field.path, false)
		if value, ok := around[field.path[field.Depth()]]; ok || field.Kind != Check {
			field.fill(value, ok)
		}
	}
}

// objectAt returns the object around the value at a path, which it makes if it has to.
func objectAt(object map[string]any, path []string, make bool) map[string]any {
	for _, name := range path[:len(path)-1] {
		next, there := object[name].(map[string]any)
		if !there && make {
			next = map[string]any{}
			object[name] = next
		}
		object = next
	}
	return object
}

// Read returns the object that a browser's form has, with values of encoding/json. The
// fields keep what was typed, with an error each where it is wrong; see Invalid.
func (f *Form) Read(sent url.Values) map[string]any {
	var whole []string
	for _, field := range f.Fields {
		if top := field.path[0]; field.Depth() > 0 && sent.Has("p."+top) && !slices.Contains(whole, top) {
			whole = append(whole, top)
		}
	}
	f.keepWhole(whole)
	args := map[string]any{}
	for _, path := range f.needed {
		objectAt(args, path, true)
	}
	for _, field := range f.Fields {
		before := field.shown()
		value, given, err := field.read(sent[field.Control()])
		switch {
		case err != nil:
			field.Error, f.Invalid = err.Error(), true
		case given && (!field.free || field.shown() != before): // a default alone makes no object
			objectAt(args, field.path, true)[field.path[field.Depth()]] = value
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

// named returns the field that a fault names first, or nil. Of a property in an object it has
// the last name alone where that is missing.
func (f *Form) named(fault string) (found *Field) {
	first := len(fault)
	for _, nested := range []bool{false, true} {
		for _, field := range f.Fields {
			name := field.Name
			if nested {
				name = field.path[field.Depth()]
			}
			if at := strings.Index(fault, strconv.Quote(name)); at >= 0 && at < first {
				first, found = at, field
			}
		}
	}
	return found
}
