package infer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// differences holds the differences between a truth and a reading.
type differences struct {
	wrong    []string
	invented []string // properties that are no arguments of the script
	misnamed []string // positional arguments whose name is another one, which is no error

	params, described int // properties that are arguments, and those with a description
}

func (d *differences) errorf(format string, args ...any) {
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
}

// problems returns what keeps a reading from being exact.
func (d differences) problems() []string {
	all := slices.Clone(d.wrong)
	for _, name := range d.invented {
		all = append(all, "invented: "+name)
	}
	return all
}

// A property is one of a schema.
type property struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

func properties(schema *jsonschema.Schema) []property {
	var all []property
	for pair := schema.Properties.Oldest(); pair != nil; pair = pair.Next() {
		all = append(all, property{pair.Key, pair.Value, slices.Contains(schema.Required, pair.Key)})
	}
	return all
}

func compare(want truth, got reading) differences {
	var d differences
	if got.state != want.State {
		d.errorf("%s, want %s %v", got.state, want.State, got.notes)
		if want.State != "arguments" && got.state == "arguments" {
			for _, p := range properties(got.schema) {
				d.invented = append(d.invented, p.name)
			}
		}
		return d
	}
	if want.State != "arguments" {
		return d
	}
	left := d.commands(want, properties(got.schema))
	left = d.parameters(want, left)
	for _, p := range left {
		if slices.ContainsFunc(want.flat(), func(q truthParam) bool { return q.named(p.name) }) {
			d.errorf("%s is there twice", p.name)
			continue
		}
		if !isHelp(p) && !ofCommand(want.truthCommand, p.name) {
			d.invented = append(d.invented, p.name)
		}
	}
	return d
}

// isHelp reports whether a property is a flag that prints help, which no truth counts.
func isHelp(p property) bool {
	return p.schema.Type == "boolean" && slices.Contains([]string{"help", "h", "version", "V"}, p.name)
}

// ofCommand reports whether a property is COMMAND_NAME, which tells parameters of the
// same name apart.
func ofCommand(c truthCommand, name string) bool {
	return slices.ContainsFunc(c.Commands, func(below truthCommand) bool {
		rest, ok := strings.CutPrefix(canonical(name), canonical(below.Name))
		return ok && slices.ContainsFunc(below.flat(), func(p truthParam) bool { return p.named(rest) }) || ofCommand(below, name)
	})
}

// commands matches the property that has the sub-command, and returns the others.
func (d *differences) commands(want truth, all []property) (left []property) {
	names, aliases := want.commandNames()
	if len(names) == 0 {
		return all
	}
	params := want.flat()
	seen := map[string]bool{}
	for _, p := range all {
		known := slices.ContainsFunc(params, func(q truthParam) bool { return q.named(p.name) })
		if known && !offers(p, names) || len(p.schema.Enum) == 0 {
			left = append(left, p)
			continue
		}
		for _, value := range p.schema.Enum {
			words := strings.Fields(text(value))
			for _, word := range words {
				seen[word] = true
				if !slices.Contains(names, word) && !slices.Contains(aliases, word) {
					d.invented = append(d.invented, "command "+word)
				}
			}
		}
	}
	for _, name := range names {
		if !seen[name] {
			d.errorf("the command %s is missing", name)
		}
	}
	return left
}

// offers reports whether a property's values are names of commands.
func offers(p property, names []string) bool {
	return slices.ContainsFunc(p.schema.Enum, func(v any) bool { return slices.Contains(names, text(v)) })
}

// parameters matches the truth's parameters, and returns the properties that are none.
// Positional arguments that only a position names match in order.
func (d *differences) parameters(want truth, left []property) []property {
	var missing []truthParam
	for _, p := range want.flat() {
		i := slices.IndexFunc(left, func(q property) bool { return p.named(q.name) })
		if i < 0 {
			missing = append(missing, p)
			continue
		}
		d.parameter(p, left[i])
		left = slices.Delete(left, i, i+1)
	}
	for _, p := range missing {
		i := slices.IndexFunc(left, func(q property) bool { return p.Positional && q.schema.Type != "boolean" })
		switch {
		case i >= 0 && len(want.Commands) == 0:
			d.misnamed = append(d.misnamed, fmt.Sprintf("%s is called %s", p.Name, left[i].name))
			d.parameter(p, left[i])
			left = slices.Delete(left, i, i+1)
		case !p.Help:
			d.errorf("%s is missing", p.Name)
		}
	}
	return left
}

func (d *differences) parameter(want truthParam, got property) {
	d.params++
	if got.schema.Description != "" {
		d.described++
	}
	d.kind(want, got)
	checked := slices.Contains(want.Accept, "required") // by the script, after the library
	if !want.some && !checked && want.Required != got.required || want.some && got.required && !want.Required {
		d.errorf("%s: required is %t", got.name, got.required)
	}
	d.fallback(want, got)
	if described := text(want.Description); !strings.Contains(plainly(got.schema.Description), plainly(described)) {
		d.errorf("%s: the description is %q, want %q", got.name, got.schema.Description, described)
	}
}

// kind compares the types and the values.
func (d *differences) kind(want truthParam, got property) {
	schema := got.schema
	either := slices.Contains(want.Accept, "array") || slices.Contains(want.Accept, "scalar")
	if list := schema.Type == "array"; list != want.Array && !either {
		d.errorf("%s: type is %q, array is %t", got.name, schema.Type, want.Array)
		return
	}
	if schema.Type == "array" && schema.Items != nil {
		schema = schema.Items
	}
	typ := schema.Type
	if typ == "" && len(schema.Enum) == 0 {
		typ = "any"
	}
	if typ != "array" && !want.accepts(typ) && (typ != "" || len(want.Enum) == 0) {
		d.errorf("%s: type is %q, want %q", got.name, typ, want.Type)
	}
	if !sameValues(want.Enum, schema.Enum) && !slices.Contains(want.Accept, "enum") && want.Type != "boolean" {
		d.errorf("%s: values are %v, want %v", got.name, schema.Enum, want.Enum)
	}
}

func sameValues(a, b []any) bool {
	texts := func(values []any) (all []string) {
		for _, v := range values {
			all = append(all, text(v))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(texts(a), texts(b))
}

// fallback compares the defaults. Those of options that depend on a command stand in
// the description.
func (d *differences) fallback(want truthParam, got property) {
	expected, actual := text(want.Default), text(got.schema.Default)
	switch {
	case slices.Contains(want.Accept, "default"), sameValue(expected, actual):
	case empty(actual) && slices.Contains(want.Accept, "no default"):
	case empty(actual) && empty(expected):
	case empty(actual) && (want.Positional || strings.Contains(got.schema.Description, expected)):
	case empty(actual) && want.Type == "boolean" && (expected == "true" || expected == "0"):
	default:
		d.errorf("%s: the default is %s, want %s", got.name, actual, expected)
	}
}

// sameValue also compares numbers, however they are written.
func sameValue(a, b string) bool {
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	return a == b || errA == nil && errB == nil && x == y
}

func empty(value string) bool {
	return slices.Contains([]string{"", "[]", "false", "null", `""`}, value)
}

// text returns a JSON value as a person writes it.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	if value == nil {
		return ""
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// plainly returns a description without what a reader may change about it.
func plainly(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(s)), " "), ".")
}
