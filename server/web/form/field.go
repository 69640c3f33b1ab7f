package form

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Kind selects the control of a field.
type Kind string

// The kinds.
const (
	Text    Kind = "text"    // one line
	Long    Kind = "long"    // several lines
	Number  Kind = "number"  // also an integer
	Check   Kind = "check"   // true or false
	Choice  Kind = "choice"  // one of Options
	Choices Kind = "choices" // any of Options
	Lines   Kind = "lines"   // an array, an item on each line
	JSON    Kind = "json"    // anything else
)

// A Field is one property of the object, or of one in it. All texts are a stranger's.
type Field struct {
	Name string // of the property, after those of the objects around, as in "a.b"
	Type string // such as "integer", or "array of string"
	ID   string // of the control; those of its help and error end with "-help" and "-error"
	Kind Kind
	// Label and Help are for the person; Hints say what values there can be.
	Label, Help string
	Hints       []string
	Required    bool
	Input       string // the type of the input element of Text and Number
	Min, Max    string // of Number
	Step        string
	Value       string // as it is typed; "true" of a ticked Check
	Options     []Option
	IsPath      bool   // the value names a file
	Upload      bool   // a file can be its text; the caller reads it
	Error       string // why the value is wrong; "" is right

	path []string // the names
	free bool     // it, or an object around it, may be left out
	item string   // the type of the value, or of an array's items
	any  bool     // what is no JSON is text
}

// An Option is a value of a choice.
type Option struct {
	Value    string // its JSON
	Label    string
	Selected bool
}

// A property is the part of a schema that fields know. One that does not fit is a field
// for JSON.
type property struct {
	Type                 string
	Title, Description   string
	Format, Pattern      string
	Default              json.RawMessage
	Enum                 []json.RawMessage
	EnumNames            []string
	OneOf, AnyOf         []constant
	Minimum, Maximum     json.Number
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
	Items                *property
	ContentMediaType     string
	Properties           json.RawMessage
	Required             []string
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

// newProperty returns a schema, as far as it fits.
func newProperty(document json.RawMessage) (p property) {
	if json.Unmarshal(document, &p) != nil {
		described := struct{ Title, Description string }{}
		_ = json.Unmarshal(document, &described)
		p = property{Title: described.Title, Description: described.Description}
	}
	return p
}

// A constant is a titled value of a choice.
type constant struct {
	Const json.RawMessage
	Title string
}

// newField returns the field of the property at a path.
func newField(path []string, document json.RawMessage, id string) *Field {
	p := newProperty(document)
	f := &Field{Name: strings.Join(path, "."), ID: id, Label: cmp.Or(p.Title, strings.Join(path, ".")), Help: p.Description, Type: typeOf(document), path: path, item: p.Type}
	f.choose(&p)
	f.bound(&p)
	if value, err := skills.DecodeJSON(string(p.Default)); err == nil {
		f.fill(value, true)
	} else {
		f.fill(nil, false)
	}
	return f
}

// choose selects the control.
func (f *Field) choose(p *property) {
	f.Options = options(p)
	switch {
	case len(f.Options) > 0:
		f.Kind = Choice
	case p.Type == "string" && long(f.path[len(f.path)-1], p):
		f.Kind = Long
	case p.Type == "string":
		f.Kind, f.Input = Text, cmp.Or(map[string]string{"date": "date", "email": "email", "uri": "url"}[p.Format], "text")
	case p.Type == "integer", p.Type == "number":
		f.Kind, f.Input, f.Step = Number, "number", "any"
		if p.Type == "integer" {
			f.Step = "1"
		}
	case p.Type == "boolean":
		f.Kind = Choice
		f.Options = []Option{{Value: "true", Label: "yes"}, {Value: "false", Label: "no"}}
		if p.Default != nil {
			f.Kind, f.Options = Check, nil
		}
	case p.Type == "array" && p.Items != nil && len(options(p.Items)) > 0:
		f.Kind, f.Options = Choices, options(p.Items)
	case p.Type == "array" && p.Items != nil && slices.Contains([]string{"string", "integer", "number", "boolean", "object"}, p.Items.Type):
		f.Kind, f.item = Lines, p.Items.Type
		f.Hints = append(f.Hints, "one on each line")
		if f.item == "object" {
			f.Hints[0] += ", as JSON"
			_ = eachMember(p.Items.Properties, func(name string, _ json.RawMessage) { f.Hints = append(f.Hints, strconv.Quote(name)) })
		}
	default:
		f.Kind, f.any = JSON, p.Type == ""
		f.Hints = append(f.Hints, map[bool]string{false: cmp.Or(p.Type, "a value") + " as JSON", true: "text, or JSON"}[f.any])
	}
}

// long reports whether people write several lines of a text.
func long(name string, p *property) bool {
	if p.Format != "" || p.MaxLength != nil && *p.MaxLength < 200 {
		return false
	}
	words := []string{"text", "content", "body", "code", "markdown", "message", "prompt", "source", "script", "html", "json", "yaml", "csv", "diff", "description", "context", "notes", "stdin"}
	return p.MaxLength != nil || strings.Contains(p.Description, " lines") || p.ContentMediaType != "" || strings.Contains(string(p.Default), `\n`) ||
		slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' }), func(word string) bool { return slices.Contains(words, word) })
}

// options returns the values of an enumeration.
func options(p *property) (all []Option) {
	for i, value := range p.Enum {
		o := newOption(value)
		if len(p.EnumNames) == len(p.Enum) {
			o.Label = p.EnumNames[i]
		}
		all = append(all, o)
	}
	for _, one := range slices.Concat(p.OneOf, p.AnyOf) {
		if one.Const == nil {
			return nil // other schemas: no choice
		}
		o := newOption(one.Const)
		o.Label = cmp.Or(one.Title, o.Label)
		all = append(all, o)
	}
	return all
}

func newOption(value json.RawMessage) Option {
	decoded, _ := skills.DecodeJSON(string(value)) // a part of a document that was decoded
	label, _ := skills.Render(decoded, "")
	return Option{Value: encode(decoded), Label: label}
}

// bound adds the bounds of the values. A pattern is a hint alone: a browser's regular
// expressions need exponential time for some, and strangers write them.
func (f *Field) bound(p *property) {
	if f.Kind == Number {
		f.Min, f.Max = p.Minimum.String(), p.Maximum.String()
	}
	f.hint("at least %s", p.Minimum.String())
	f.hint("at most %s", p.Maximum.String())
	f.hint("at least %s characters", count(p.MinLength))
	f.hint("at most %s characters", count(p.MaxLength))
	f.hint("at least %s", count(p.MinItems))
	f.hint("at most %s", count(p.MaxItems))
	f.hint("of the pattern %s", p.Pattern)
	if f.IsPath = p.Format == "path"; f.IsPath {
		f.hint("%s", "a path, relative to the workspace")
	} else if f.Input != "date" {
		f.hint("%s", p.Format)
	}
}

func (f *Field) hint(format, value string) {
	if value != "" {
		f.Hints = append(f.Hints, fmt.Sprintf(format, value))
	}
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// require marks the field as one that has a value in any case.
func (f *Field) require() {
	f.Required = true
	if f.Kind == Choice && len(f.Options) == 2 && f.item == "boolean" {
		f.Kind, f.Options = Check, nil
	}
}

// Control returns the name of the field's control, which stays the same when the order of
// the properties changes. It is a JSON Pointer after its first name.
func (f *Field) Control() string {
	names := make([]string, len(f.path))
	for i, name := range f.path {
		names[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return "p." + strings.Join(names, "/")
}

// Depth returns the number of the objects around.
func (f *Field) Depth() int { return len(f.path) - 1 }

// typeOf returns the types of a schema, for people.
func typeOf(document json.RawMessage) string {
	var shape struct {
		Type  any
		Items struct{ Type any }
		Ref   string `json:"$ref"`
	}
	_ = json.Unmarshal(document, &shape) // a part that does not fit is left out
	text := cmp.Or(typeWords(shape.Type), shape.Ref, "any")
	if of := typeWords(shape.Items.Type); of != "" {
		text += " of " + of
	}
	return text
}

// typeWords returns one type, or several.
func typeWords(types any) string {
	if all, ok := types.([]any); ok {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", " or ")
	}
	text, _ := types.(string)
	return text
}

// Blank reports whether a choice has an option for no value.
func (f *Field) Blank() bool {
	return !f.Required || !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Selected })
}

// fill writes a value into the field.
func (f *Field) fill(value any, given bool) {
	f.Value = ""
	all, list := value.([]any)
	selected := map[string]bool{}
	for _, one := range append(slices.Clone(all), value) {
		selected[encode(one)] = given
	}
	for i, o := range f.Options {
		f.Options[i].Selected = selected[o.Value]
	}
	if !given {
		return
	}
	switch {
	case f.Kind == Lines && list:
		f.Value = f.lines(all)
	case f.Kind == JSON && !f.any || list || f.any && isJSON(value):
		f.Value = encode(value)
	default:
		f.Value, _ = skills.Render(value, f.item)
	}
	if strings.Contains(f.Value, "\n") && f.Kind == Text {
		f.Kind = Long
	}
}

// isJSON reports whether a text would be read as another value.
func isJSON(value any) bool {
	text, ok := value.(string)
	_, err := skills.DecodeJSON(text)
	return ok && err == nil
}

// lines returns the items of an array, a line each, or the array as JSON where they do not
// fit; readLines knows both.
func (f *Field) lines(items []any) string {
	var all []string
	for _, item := range items {
		line, err := skills.Render(item, f.item)
		if err != nil || strings.TrimSpace(line) == "" || strings.ContainsAny(line, "\r\n") {
			return encode(items)
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

// shown returns the value that the field shows.
func (f *Field) shown() string { return fmt.Sprint(f.Value, f.Options) }

// read returns the value that a browser sent. given is false for none.
func (f *Field) read(sent []string) (value any, given bool, err error) {
	text := ""
	if len(sent) > 0 {
		text = strings.ReplaceAll(sent[0], "\r\n", "\n")
	}
	cleared := f.Value != "" // a default that the person has removed
	f.Value = text
	switch f.Kind {
	case Check:
		return text == "true", true, nil
	case Choice, Choices:
		return f.chosen(sent)
	case Lines:
		return f.readLines(text)
	}
	switch {
	case text == "":
		return "", cleared && f.item == "string", nil
	case f.Kind == Number:
		value, err := decode(strings.TrimSpace(text))
		if _, ok := value.(json.Number); !ok || err != nil {
			return nil, false, errors.New("must be a number")
		}
		return value, true, nil
	case f.Kind == JSON:
		value, err := decode(text)
		if err != nil && f.any {
			return text, true, nil
		}
		return value, err == nil, err
	}
	return text, true, nil
}

// chosen returns the values of the options that a browser sent.
func (f *Field) chosen(sent []string) (any, bool, error) {
	all := []any{}
	for i, o := range f.Options {
		if f.Options[i].Selected = slices.Contains(sent, o.Value); f.Options[i].Selected {
			value, _ := skills.DecodeJSON(o.Value) // it was encoded by encode
			all = append(all, value)
		}
	}
	switch {
	case f.Kind == Choices:
		return all, len(all) > 0 || f.Required, nil
	case len(all) == 1:
		return all[0], true, nil
	case len(sent) > 0 && sent[0] != "":
		return nil, false, errors.New("must be one of the options")
	}
	return nil, false, nil
}

// readLines returns the items of a text with one on each line.
func (f *Field) readLines(text string) (any, bool, error) {
	all := []any{}
	if value, err := skills.DecodeJSON(text); err == nil {
		if items, ok := value.([]any); ok {
			return items, true, nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var item any = line
		if f.item != "string" {
			decoded, err := decode(strings.TrimSpace(line))
			if err != nil {
				return nil, false, fmt.Errorf("%q must be of the type %s", line, f.item)
			}
			item = decoded
		}
		all = append(all, item)
	}
	return all, len(all) > 0 || f.Required, nil
}

// decode returns the JSON value of a text.
func decode(text string) (any, error) {
	value, err := skills.DecodeJSON(text)
	if err != nil {
		return nil, fmt.Errorf("this is not JSON: %w", err)
	}
	return value, nil
}

// encode returns a value as JSON of one line.
func encode(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil { // values of encoding/json can be encoded
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
