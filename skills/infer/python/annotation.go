package python

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// An annotated type of a parameter, as far as it is known.
type annotated struct {
	schema   *jsonschema.Schema
	optional bool    // None is allowed
	injected bool    // the library gives it, no caller
	extras   []value // what Annotated adds
}

// annotation reads the type of a parameter. What it does not know may be any
// value.
func (i *interp) annotation(n *node, s *scope) annotated {
	if n == nil {
		return annotated{schema: &jsonschema.Schema{}}
	}
	switch n.kind {
	case nConst:
		if text, ok := n.value.(string); ok {
			return i.quoted(text, s)
		}
	case nBinary:
		if n.name == "|" {
			return i.union(n.kids, s)
		}
	case nSubscript:
		return i.generic(n, s)
	}
	v := i.eval(n, s)
	if named, ok := v.(*alias); ok {
		return i.annotation(named.node, named.scope)
	}
	if injects(v) {
		return annotated{injected: true}
	}
	if c, ok := v.(*class); ok && c.comesFrom("BaseModel", "pydantic", "langchain") {
		return annotated{schema: i.model(c)}
	}
	return annotated{schema: plainType(v)}
}

// quoted reads an annotation that is written as text.
func (i *interp) quoted(text string, s *scope) annotated {
	r := newReader(text + "\n")
	n := r.expression()
	if r.err != nil || n.kind == nConst || len(text) > 200 {
		return annotated{schema: &jsonschema.Schema{}}
	}
	return i.annotation(n, s)
}

// injects reports whether a type is of what LangChain gives a tool itself.
func injects(v value) bool {
	ref, ok := v.(reference)
	if !ok {
		return false
	}
	name := ref.last()
	return name == "RunnableConfig" || name == "ToolRuntime" || strings.HasPrefix(name, "Injected") || strings.HasSuffix(name, "CallbackManagerForToolRun")
}

// isGeneric reports whether a type takes parameters.
func isGeneric(base reference) bool {
	switch base.last() {
	case "Annotated", "Optional", "Union", "Literal", "list", "List", "set", "Set", "tuple", "Tuple", "Sequence", "Iterable", "dict", "Dict", "Mapping":
		return true
	}
	return false
}

func plainType(v value) *jsonschema.Schema {
	ref, _ := v.(reference)
	switch ref.last() {
	case "str", "Path", "date", "datetime", "UUID":
		return &jsonschema.Schema{Type: "string"}
	case "int":
		return &jsonschema.Schema{Type: "integer"}
	case "float":
		return &jsonschema.Schema{Type: "number"}
	case "bool":
		return &jsonschema.Schema{Type: "boolean"}
	case "list", "List", "tuple", "Tuple", "set", "Set", "Sequence", "Iterable":
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Description: "Any value."}}
	case "dict", "Dict", "Mapping":
		return &jsonschema.Schema{Type: "object"}
	}
	return &jsonschema.Schema{}
}

// union reads X | None, which is X, and X | Y, which is any value.
func (i *interp) union(kids []*node, s *scope) annotated {
	var a annotated
	for _, kid := range kids {
		if kid != nil && kid.kind == nConst && isNone(kid.value) {
			a.optional = true
			continue
		}
		one := i.annotation(kid, s)
		a.optional, a.injected = a.optional || one.optional, a.injected || one.injected
		if a.schema != nil {
			one.schema = &jsonschema.Schema{}
		}
		a.schema = one.schema
	}
	if a.schema == nil {
		a.schema = &jsonschema.Schema{}
	}
	return a
}

// generic reads a type with parameters: Optional[X], list[X], Literal["a"].
func (i *interp) generic(n *node, s *scope) annotated {
	base, _ := i.eval(n.kids[0], s).(reference)
	inner := []*node{n.kids[1]}
	if n.kids[1].kind == nTuple {
		inner = n.kids[1].kids
	}
	if len(inner) == 0 {
		return annotated{schema: plainType(base)}
	}
	switch base.last() {
	case "Optional":
		a := i.annotation(inner[0], s)
		a.optional = true
		return a
	case "Union":
		return i.union(inner, s)
	case "Annotated":
		return i.extended(inner, s)
	case "Literal":
		return annotated{schema: i.alternatives(inner, s)}
	case "list", "List", "set", "Set", "Sequence", "Iterable":
		item := i.annotation(inner[0], s)
		if item.schema == nil || item.schema.Type == "" {
			return annotated{schema: plainType(base)}
		}
		return annotated{schema: &jsonschema.Schema{Type: "array", Items: item.schema}}
	}
	return annotated{schema: plainType(base)}
}

// extended reads Annotated[X, …], of which a text describes the parameter.
func (i *interp) extended(inner []*node, s *scope) annotated {
	a := i.annotation(inner[0], s)
	for _, kid := range inner[1:] {
		v := i.eval(kid, s)
		a.extras = append(a.extras, v)
		callee := v
		if kid.kind == nCall {
			callee = i.eval(kid.kids[0], s)
		}
		a.injected = a.injected || injects(callee)
		if text, ok := v.(string); ok && a.schema != nil {
			a.schema.Description = text
		}
	}
	return a
}

func (i *interp) alternatives(inner []*node, s *scope) *jsonschema.Schema {
	schema := &jsonschema.Schema{}
	for _, kid := range inner {
		v, ok := valueJSON(i.eval(kid, s))
		if !ok {
			return &jsonschema.Schema{}
		}
		schema.Enum = append(schema.Enum, v)
	}
	if _, ok := schema.Enum[0].(string); ok {
		schema.Type = "string"
	}
	return schema
}

// valueJSON returns a constant in JSON.
func valueJSON(v value) (any, bool) {
	switch v := v.(type) {
	case bool, string:
		return v, true
	case int64:
		return json.Number(reprOf(v)), true
	case float64:
		return floatJSON(v), true
	case *sequence:
		list := []any{}
		for _, item := range v.items {
			one, ok := valueJSON(item)
			if _, nested := item.(*sequence); !ok || nested {
				return nil, false
			}
			list = append(list, one)
		}
		return list, v.open != '{'
	case *mapping:
		return map[string]any{}, len(v.keys) == 0
	}
	return nil, false
}

func reprOf(v value) string {
	text, _ := pyRepr(v)
	return text
}

// choicesOf returns the values of the file's own Enum that an annotation names,
// and nil for another type.
func (i *interp) choicesOf(n *node, s *scope) value {
	v := i.eval(n, s)
	for range maxModels { // Optional[Annotated[Mode, …]]
		named, ok := v.(*alias)
		if !ok {
			break
		}
		base, _ := i.eval(named.node.kids[0], named.scope).(reference)
		if base.last() != "Annotated" && base.last() != "Optional" {
			return nil
		}
		inner := named.node.kids[1]
		if inner.kind == nTuple && len(inner.kids) > 0 {
			inner = inner.kids[0]
		}
		v = i.eval(inner, named.scope)
	}
	c, ok := v.(*class)
	if !ok || !slices.ContainsFunc(c.parents, func(v value) bool { return v == reference("enum.Enum") || v == reference("enum.StrEnum") }) {
		return nil
	}
	seq := &sequence{open: '['}
	for _, member := range c.body {
		if member.kind == sAssign && len(member.targets) == 1 && member.targets[0].kind == nName {
			seq.items = append(seq.items, c.members[member.targets[0].name])
		}
	}
	return seq
}
