package python

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A typeReader reads annotations.
type typeReader struct{ eval *evaluator }

// annotation returns the schema of a parameter's type: nil where LangChain gives the
// parameter, and no caller. What is not known may be any value.
func (t typeReader) annotation(n *syntax.Node, s *scope) *jsonschema.Schema {
	if t.eval.types >= maxTypes || n == nil {
		return &jsonschema.Schema{}
	}
	t.eval.types++
	defer func() { t.eval.types-- }()
	switch n.Kind {
	case syntax.Const:
		if text, ok := n.Value.(string); ok {
			return t.quoted(text, s)
		}
	case syntax.Binary:
		if n.Name == "|" {
			return t.union(n.Kids, s)
		}
	case syntax.Subscript:
		return t.generic(n, s)
	}
	switch v := t.eval.value(n, s).(type) {
	case *alias:
		return t.annotation(v.node, v.scope)
	case *class:
		if v.isModel() {
			return t.model(v)
		}
		return v.choices()
	case reference:
		if injects(v) {
			return nil
		}
		return plainType(v)
	}
	return &jsonschema.Schema{}
}

// quoted reads an annotation that is written as text.
func (t typeReader) quoted(text string, s *scope) *jsonschema.Schema {
	n, err := syntax.Expression(text)
	if err != nil || n.Kind == syntax.Const || len(text) > 200 {
		return &jsonschema.Schema{}
	}
	return t.annotation(n, s)
}

// injects reports whether LangChain itself gives a tool its arguments of this type.
func injects(v value) bool {
	ref, _ := v.(reference)
	name := ref.last()
	return name == "RunnableConfig" || name == "ToolRuntime" || strings.HasPrefix(name, "Injected") || strings.HasSuffix(name, "CallbackManagerForToolRun")
}

// jsonTypes are the types of JSON that Python's have.
var jsonTypes = map[string]string{
	"str": "string", "Path": "string", "date": "string", "datetime": "string", "UUID": "string", "int": "integer", "float": "number", "bool": "boolean",
	"list": "array", "List": "array", "tuple": "array", "Tuple": "array", "set": "array", "Set": "array", "Sequence": "array", "Iterable": "array",
	"dict": "object", "Dict": "object", "Mapping": "object",
}

func plainType(v reference) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: jsonTypes[v.last()]}
	if schema.Type == "array" {
		schema.Items = &jsonschema.Schema{Description: "Any value."}
	}
	return schema
}

// union reads X | None, which is X, and X | Y, which is any value.
func (t typeReader) union(kids []*syntax.Node, s *scope) (schema *jsonschema.Schema) {
	for at, kid := range slices.DeleteFunc(slices.Clone(kids), func(n *syntax.Node) bool { return n.Kind == syntax.Const && isNone(n.Value) }) {
		one := t.annotation(kid, s)
		if schema = one; at > 0 {
			schema = &jsonschema.Schema{}
		}
	}
	return schema
}

// generic reads a type with parameters: Optional[X], list[X], Literal["a"].
func (t typeReader) generic(n *syntax.Node, s *scope) *jsonschema.Schema {
	base, _ := t.eval.value(n.Kids[0], s).(reference)
	inner := (&alias{n, s}).parameters()
	switch base.last() {
	case "Optional":
		return t.annotation(inner[0], s)
	case "Union":
		return t.union(inner, s)
	case "Annotated":
		return t.extended(inner, s)
	case "Literal":
		var constants []value
		for _, kid := range inner {
			constants = append(constants, t.eval.value(kid, s))
		}
		return oneOf(constants)
	}
	schema := plainType(base)
	if schema.Type == "array" && strings.ToLower(base.last()) != "tuple" {
		if item := t.annotation(inner[0], s); item != nil && item.Type != "" {
			schema.Items = item
		}
	}
	return schema
}

// extended reads Annotated[X, …], of which a text describes the parameter.
func (t typeReader) extended(inner []*syntax.Node, s *scope) *jsonschema.Schema {
	schema := t.annotation(inner[0], s)
	for _, kid := range inner[1:] {
		v := t.eval.value(kid, s)
		if kid.Kind == syntax.Call && injects(t.eval.value(kid.Kids[0], s)) || injects(v) {
			schema = nil
		}
		if text, ok := v.(string); ok && schema != nil {
			schema.Description = text
		}
	}
	return schema
}

// oneOf describes a value that is one of some constants.
func oneOf(constants []value) *jsonschema.Schema {
	schema := &jsonschema.Schema{}
	for _, constant := range constants {
		v, ok := valueJSON(constant)
		if !ok {
			return &jsonschema.Schema{}
		}
		schema.Enum = append(schema.Enum, v)
	}
	if !slices.ContainsFunc(schema.Enum, func(v any) bool { _, text := v.(string); return !text }) {
		schema.Type = "string"
	}
	return schema
}

// choices describes the values of an Enum; those of another class may be any.
func (c *class) choices() *jsonschema.Schema {
	var constants []value
	for _, member := range c.Body {
		if member.Kind == syntax.AssignStmt && len(member.Targets) == 1 && member.Targets[0].Kind == syntax.Name {
			constants = append(constants, c.members[member.Targets[0].Name])
		}
	}
	if len(constants) == 0 || !slices.ContainsFunc(c.ancestors, func(r reference) bool { return r == "enum.Enum" || r == "enum.StrEnum" }) {
		return &jsonschema.Schema{}
	}
	return oneOf(constants)
}

func (c *class) isModel() bool { return c.comesFrom("BaseModel", "pydantic", "langchain") }

// modelOf returns the schema of a pydantic model; that of any object where the model
// is not defined in the file.
func (t typeReader) modelOf(v value) *jsonschema.Schema {
	if call, ok := v.(*libraryCall); ok {
		v, _ = call.get(0, "default")
	}
	if c, ok := v.(*class); ok && c.isModel() {
		return t.model(c)
	}
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
}

// model describes a model's fields. One that names itself ends where calls do.
func (t typeReader) model(c *class) *jsonschema.Schema {
	object := newObject()
	if t.eval.calls >= maxModels || !t.eval.charge(1) {
		return &jsonschema.Schema{Type: "object"}
	}
	t.eval.calls++
	defer func() { t.eval.calls-- }()
	for _, s := range c.fields {
		schema := t.annotation(s.Note, t.eval.globals)
		note := s.Note
		if note.Kind == syntax.Subscript {
			note = note.Kids[0]
		}
		if schema == nil || strings.HasSuffix(syntax.Dotted(note), "ClassVar") {
			continue
		}
		name := s.Targets[0].Name
		given := c.members[name]
		if call, ok := given.(*libraryCall); ok {
			describeField(schema, call)
			given, _ = call.get(0, "default")
			given = call.named("default_factory", given)
		}
		if given == (syntax.Ellipsis{}) {
			given = nil
		}
		addParameter(object, name, schema, given)
	}
	return object
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

const (
	// maxModels bounds the nesting of models.
	maxModels = 4
	// maxTypes bounds the nesting of types: they may be recursive.
	maxTypes = 32
)

// describeField adds the settings of a call of Field to a schema.
func describeField(s *jsonschema.Schema, field *libraryCall) {
	if text, ok := field.named("description", nil).(string); ok {
		s.Description = text
	}
	for name, to := range map[string]*json.Number{"ge": &s.Minimum, "le": &s.Maximum, "gt": &s.ExclusiveMinimum, "lt": &s.ExclusiveMaximum} {
		v, _ := valueJSON(field.named(name, nil))
		*to, _ = v.(json.Number)
	}
}
