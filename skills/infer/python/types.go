package python

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// A typeReader reads annotations.
type typeReader struct{ *evaluator }

// An annotated type of a parameter, as far as it is known.
type annotated struct {
	schema   *jsonschema.Schema
	injected bool    // the library gives it, no caller
	extras   []value // the further arguments of Annotated
}

// annotation reads the type of a parameter. What it does not know may be any
// value.
func (t typeReader) annotation(n *node, s *scope) annotated {
	if n == nil {
		return annotated{schema: &jsonschema.Schema{}}
	}
	switch n.kind {
	case nConst:
		if text, ok := n.value.(string); ok {
			return t.quoted(text, s)
		}
	case nBinary:
		if n.name == "|" {
			return t.union(n.kids, s)
		}
	case nSubscript:
		return t.generic(n, s)
	}
	v := t.eval(n, s)
	if named, ok := v.(*alias); ok {
		return t.annotation(named.node, named.scope)
	}
	if injects(v) {
		return annotated{injected: true}
	}
	if c, ok := v.(*class); ok && c.comesFrom("BaseModel", "pydantic", "langchain") {
		return annotated{schema: t.model(c)}
	}
	return annotated{schema: plainType(v)}
}

// quoted reads an annotation that is written as text.
func (t typeReader) quoted(text string, s *scope) annotated {
	n, err := parseExpression(text)
	if err != nil || n.kind == nConst || len(text) > 200 {
		return annotated{schema: &jsonschema.Schema{}}
	}
	return t.annotation(n, s)
}

// injects reports whether LangChain itself gives a tool its arguments of this type.
func injects(v value) bool {
	ref, _ := v.(reference)
	name := ref.last()
	return name == "RunnableConfig" || name == "ToolRuntime" || strings.HasPrefix(name, "Injected") || strings.HasSuffix(name, "CallbackManagerForToolRun")
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
func (t typeReader) union(kids []*node, s *scope) annotated {
	var a annotated
	for _, kid := range kids {
		if kid != nil && kid.kind == nConst && isNone(kid.value) {
			continue
		}
		one := t.annotation(kid, s)
		a.injected = a.injected || one.injected
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
func (t typeReader) generic(n *node, s *scope) annotated {
	base, _ := t.eval(n.kids[0], s).(reference)
	inner := (&alias{n, s}).parameters()
	switch base.last() {
	case "Optional":
		return t.annotation(inner[0], s)
	case "Union":
		return t.union(inner, s)
	case "Annotated":
		return t.extended(inner, s)
	case "Literal":
		return annotated{schema: t.alternatives(inner, s)}
	case "list", "List", "set", "Set", "Sequence", "Iterable":
		item := t.annotation(inner[0], s)
		if item.schema == nil || item.schema.Type == "" {
			return annotated{schema: plainType(base)}
		}
		return annotated{schema: &jsonschema.Schema{Type: "array", Items: item.schema}}
	}
	return annotated{schema: plainType(base)}
}

// extended reads Annotated[X, …], of which a text describes the parameter.
func (t typeReader) extended(inner []*node, s *scope) annotated {
	a := t.annotation(inner[0], s)
	for _, kid := range inner[1:] {
		v := t.eval(kid, s)
		a.extras = append(a.extras, v)
		callee := v
		if kid.kind == nCall {
			callee = t.eval(kid.kids[0], s)
		}
		a.injected = a.injected || injects(callee)
		if text, ok := v.(string); ok && a.schema != nil {
			a.schema.Description = text
		}
	}
	return a
}

func (t typeReader) alternatives(inner []*node, s *scope) *jsonschema.Schema {
	schema := &jsonschema.Schema{}
	for _, kid := range inner {
		v, ok := valueJSON(t.eval(kid, s))
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

// choicesOf returns the values of the file's own Enum that an annotation names,
// and nil for another type.
func (t typeReader) choicesOf(n *node, s *scope) *sequence {
	v := t.eval(n, s)
	for range maxModels { // Optional[Annotated[Mode, …]]
		named, ok := v.(*alias)
		if !ok {
			break
		}
		base, _ := t.eval(named.node.kids[0], named.scope).(reference)
		if base.last() != "Annotated" && base.last() != "Optional" {
			return nil
		}
		v = t.eval(named.parameters()[0], named.scope)
	}
	c, ok := v.(*class)
	if !ok || !slices.ContainsFunc(c.ancestors, func(r reference) bool { return r == "enum.Enum" || r == "enum.StrEnum" }) {
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

// modelOf returns the schema of a pydantic model; that of any object where the model
// is not defined in the file.
func (t typeReader) modelOf(v value) *jsonschema.Schema {
	if call, ok := v.(*libraryCall); ok {
		v, _ = call.get(0, "default")
	}
	if c, ok := v.(*class); ok && c.comesFrom("BaseModel", "pydantic", "langchain") {
		return t.model(c)
	}
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
}

// model describes a model's fields. One that names itself ends where calls do.
func (t typeReader) model(c *class) *jsonschema.Schema {
	schema := newObject()
	if t.calls >= maxModels || !t.charge(1) {
		return &jsonschema.Schema{Type: "object"}
	}
	t.calls++
	defer func() { t.calls-- }()
	for _, s := range c.fields {
		a := t.annotation(s.note, t.globals)
		if ref, ok := t.eval(baseOf(s.note), t.globals).(reference); ok && ref.last() == "ClassVar" || a.schema == nil {
			continue
		}
		if choices := t.choicesOf(s.note, t.globals); choices != nil {
			a.schema.Enum, _ = choices.json()
			if len(a.schema.Enum) > 0 && !slices.ContainsFunc(a.schema.Enum, func(v any) bool { _, text := v.(string); return !text }) {
				a.schema.Type = "string"
			}
		}
		name := s.targets[0].name
		given := c.members[name]
		if call, ok := given.(*libraryCall); ok {
			describeField(a.schema, call)
			given, _ = call.get(0, "default")
			if factory, ok := call.get(-1, "default_factory"); ok {
				given = factory
			}
		}
		if given == (ellipsis{}) {
			given = nil
		}
		addParameter(schema, name, a.schema, given)
	}
	return schema
}

// newObject returns the schema of an object with no properties yet.
func newObject() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
}

// addParameter adds a property to an object. It is required where the default is
// nil.
func addParameter(object *jsonschema.Schema, name string, property *jsonschema.Schema, standard value) {
	if standard == nil {
		object.Required = append(object.Required, name)
	} else if v, ok := valueJSON(standard); ok {
		property.Default = v
	}
	if property.Type == "" && property.Description == "" {
		property.Description = "Any value."
	}
	object.Properties.Set(name, property)
}

// maxModels bounds the nesting of models.
const maxModels = 4

// baseOf returns X of X[…].
func baseOf(n *node) *node {
	if n != nil && n.kind == nSubscript {
		return n.kids[0]
	}
	return n
}

// describeField adds the settings of a call of Field to a schema.
func describeField(s *jsonschema.Schema, field *libraryCall) {
	if text, ok := field.named("description", nil).(string); ok {
		s.Description = text
	}
	for name, to := range map[string]*json.Number{"ge": &s.Minimum, "le": &s.Maximum, "gt": &s.ExclusiveMinimum, "lt": &s.ExclusiveMaximum} {
		if v, ok := valueJSON(field.named(name, nil)); ok {
			if n, ok := v.(json.Number); ok {
				*to = n
			}
		}
	}
}
