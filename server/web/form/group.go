package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A Group has the fields of one object.
type Group struct{ Fields []*Field }

// Bounds of groups. What does not fit is a field for JSON.
const (
	maxDeep    = 3  // objects in objects
	maxMembers = 30 // properties of one object
	maxGroups  = 20 // objects of one array
)

// pointer escapes the name of a property in a path.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// group makes a field of an object, or of an array of them, one of groups.
func (f *Field) group(p *property, document json.RawMessage) {
	kind := Object
	if p.Type == "array" && p.Items != nil && p.Items.Type == "object" {
		var array struct{ Items json.RawMessage }
		_ = json.Unmarshal(document, &array) // as it was above
		kind, p, document = Objects, p.Items, array.Items
	}
	var members map[string]json.RawMessage
	if f.Kind != JSON || f.deep == maxDeep || p.Type != "object" || json.Unmarshal(p.Properties, &members) != nil || len(members) == 0 || len(members) > maxMembers {
		return
	}
	f.of = document
	if f.setGroups(kind, 1); f.Groups != nil {
		f.Kind, f.Hints = kind, nil
	}
}

// setGroups gives the field new groups, none if the schema has no fields.
func (f *Field) setGroups(kind Kind, count int) {
	f.Groups = nil
	for i := range count {
		path, id := f.path+"/", f.ID+"-"
		if kind == Objects {
			path, id = fmt.Sprintf("%s%d/", path, i), fmt.Sprintf("%s%d-", id, i)
		}
		fields, err := newFields(f.of, path, id)
		if err != nil {
			f.Groups = nil
			return
		}
		f.Groups = append(f.Groups, Group{fields})
	}
}

// fillGroups writes an object, or an array of objects, into the groups. One that does not
// fit makes the field one for JSON.
func (f *Field) fillGroups(value any, given bool) {
	items, ok := value.([]any)
	if f.Kind == Object {
		items, ok = []any{value}, true
	}
	if !given {
		f.setGroups(f.Kind, 1)
		return
	}
	if !ok || len(items) > maxGroups {
		f.Kind, f.Groups = JSON, nil
		return
	}
	count := len(items)
	if f.Kind == Objects {
		count = min(count+1, maxGroups)
	}
	f.setGroups(f.Kind, count)
	for i, item := range items {
		if members, ok := item.(map[string]any); !ok || !f.Groups[i].fill(members) {
			f.Kind, f.Groups = JSON, nil
			return
		}
	}
}

// fill writes an object into the fields. It returns false if they do not have all of it.
func (g Group) fill(members map[string]any) bool {
	known := 0
	for _, field := range g.Fields {
		if _, ok := members[field.Name]; ok {
			known++
		}
	}
	fill(g.Fields, members)
	return known == len(members)
}

// fill writes values into fields: those that are left out become empty, but for boxes, which
// keep their default.
func fill(fields []*Field, values map[string]any) {
	for _, field := range fields {
		if value, ok := values[field.Name]; ok || field.Kind != Check {
			field.fill(value, ok)
		}
	}
}

// errInGroup is the error of a field whose groups say more.
var errInGroup = errors.New("some values in it are wrong")

// readGroups returns the value that a browser sent in groups. An object that is not required
// is given if a value of it was changed; the same holds for each of an array.
func (f *Field) readGroups(sent url.Values) (value any, given bool, err error) {
	if f.Kind == Object {
		object, changed, err := f.Groups[0].read(sent)
		return object, changed || f.Required, err
	}
	count := 1
	for count < maxGroups && has(sent, fmt.Sprintf("%s/%d/", f.Control(), count)) {
		count++
	}
	f.setGroups(Objects, count)
	all, last := []any{}, false
	for _, g := range f.Groups {
		object, changed, wrong := g.read(sent)
		if last = changed; changed {
			all = append(all, object)
		}
		err = errors.Join(err, wrong)
	}
	if last && count < maxGroups {
		filled := f.Groups
		f.setGroups(Objects, count+1)
		copy(f.Groups, filled)
	}
	if err != nil {
		err = errInGroup
	}
	return all, len(all) > 0 || f.Required, err
}

// has reports whether a browser sent a control whose name begins with prefix.
func has(sent url.Values, prefix string) bool {
	for name := range sent {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// read returns the object that a browser sent, and whether it differs from the fields before.
func (g Group) read(sent url.Values) (object map[string]any, changed bool, err error) {
	object = map[string]any{}
	for _, field := range g.Fields {
		before := field.shown()
		value, given, wrong := field.read(sent)
		if changed = changed || field.shown() != before; given {
			object[field.Name] = value
		}
		if wrong != nil {
			field.Error, err = wrong.Error(), errInGroup
		}
	}
	return object, changed, err
}

// shown returns the values that the field shows, as one text.
func (f *Field) shown() string {
	text := f.Value
	for _, o := range f.Options {
		text += fmt.Sprintf(" %t", o.Selected)
	}
	for _, g := range f.Groups {
		for _, field := range g.Fields {
			text += fmt.Sprintf(" %q", field.shown())
		}
	}
	return text
}

// forget removes the errors of fields.
func forget(fields []*Field) {
	for _, field := range fields {
		field.Error = ""
		for _, g := range field.Groups {
			forget(g.Fields)
		}
	}
}

// hasRows reports whether one of the fields is a list of objects.
func hasRows(fields []*Field) bool {
	return slices.ContainsFunc(fields, func(f *Field) bool {
		return f.Kind == Objects || slices.ContainsFunc(f.Groups, func(g Group) bool { return hasRows(g.Fields) })
	})
}
