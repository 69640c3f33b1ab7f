package form

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Row describes one property of a schema in a table. All texts are a stranger's.
type Row struct {
	Name     string // with those of the objects around, as in "a.b"
	Depth    int    // of the nesting; 0 is the outermost
	Type     string
	Required bool
	Default  string
	Help     string
	Hints    []string
}

// Bounds of a table.
const (
	maxRows  = 200
	maxDepth = 4
)

// Rows returns the properties of a schema, each with those of its objects after it: at most
// 200, and 4 levels.
func Rows(document []byte) []Row { return addRows(nil, document, "", 0) }

func addRows(rows []Row, document []byte, prefix string, depth int) []Row {
	var object struct {
		Properties, Items json.RawMessage
		Required          []string
	}
	if depth == maxDepth || json.Unmarshal(document, &object) != nil {
		return rows
	}
	if len(object.Properties) == 0 && depth > 0 && len(object.Items) > 0 {
		return addRows(rows, object.Items, strings.TrimSuffix(prefix, ".")+"[].", depth)
	}
	_ = eachMember(object.Properties, func(name string, value json.RawMessage) {
		if len(rows) < maxRows {
			row := newRow(name, value, prefix, depth)
			row.Required = slices.Contains(object.Required, name)
			rows = addRows(append(rows, row), value, prefix+name+".", depth+1)
		}
	})
	return rows
}

func newRow(name string, document json.RawMessage, prefix string, depth int) Row {
	f := newField("", name, document, "")
	var shape struct {
		Type    any
		Items   struct{ Type any }
		Ref     string `json:"$ref"`
		Default json.RawMessage
	}
	_ = json.Unmarshal(document, &shape) // a part that does not fit is left out
	row := Row{Name: prefix + name, Depth: depth, Type: cmp.Or(typeWords(shape.Type), shape.Ref, "any"), Default: string(shape.Default), Help: f.Help}
	if of := typeWords(shape.Items.Type); of != "" {
		row.Type += " of " + of
	}
	if f.Label != name {
		row.Help = strings.TrimSpace(f.Label + ". " + f.Help)
	}
	for _, o := range f.Options {
		if f.item != "boolean" {
			row.Hints = append(row.Hints, o.Label)
		}
	}
	if len(row.Hints) > 0 {
		row.Hints = []string{"one of " + strings.Join(row.Hints, ", ")}
	}
	if f.Kind != JSON && f.Kind != Lines && f.Groups == nil { // whose first hint is for people who type
		row.Hints = append(row.Hints, f.Hints...)
	}
	return row
}

// typeWords returns the types of a schema: one, or several.
func typeWords(types any) string {
	switch t := types.(type) {
	case string:
		return t
	case []any:
		var all []string
		for _, one := range t {
			word, _ := skills.Render(one, "")
			all = append(all, word)
		}
		return strings.Join(all, " or ")
	}
	return ""
}
