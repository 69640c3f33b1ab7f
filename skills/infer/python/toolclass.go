package python

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// toolClass reads a class that comes from LangChain's BaseTool and has something
// to run.
func (i *interp) toolClass(c *class) (f Function, ok bool) {
	if !c.comesFrom("BaseTool", "langchain") || strings.HasPrefix(c.name, "_") {
		return f, false
	}
	run, ok := memberFunction(c, "_run")
	if !ok {
		if run, ok = memberFunction(c, "_arun"); !ok {
			return f, false
		}
	}
	f = Function{Name: c.name, Python: c.name, Doc: docstring(c.body)}
	if name, ok := c.text("name"); ok {
		f.Name = name
	}
	if description, ok := c.text("description"); ok {
		f.Doc = description
	}
	if model, declared := c.member("args_schema"); declared && !isNone(model) {
		f.Params = i.modelOf(model)
	} else {
		bound := *run
		bound.params = bound.params[min(1, len(bound.params)):] // self
		f.Params = i.paramsOf(&bound)
	}
	f.Needs = c.needs()
	return f, true
}

// needs returns the constructor's parameters that have no default.
func (c *class) needs() []string {
	var names []string
	if init, ok := memberFunction(c, "__init__"); ok {
		for at, p := range init.params {
			if at > 0 && p.star == "" && p.fallback == nil {
				names = append(names, p.name)
			}
		}
		return names
	}
	for _, field := range c.fields() {
		if field.value == nil && field.targets[0].name != "name" && field.targets[0].name != "description" {
			names = append(names, field.targets[0].name)
		}
	}
	return names
}

func memberFunction(c *class, name string) (*function, bool) {
	v, _ := c.member(name)
	fn, ok := v.(*function)
	return fn, ok
}

// text returns a member that is text.
func (c *class) text(name string) (string, bool) {
	v, _ := c.member(name)
	text, ok := v.(string)
	return strings.TrimSpace(text), ok && strings.TrimSpace(text) != ""
}

// fields returns the statements that declare a class's fields: those of the
// classes of the file that it comes from first.
func (c *class) fields() []*stmt {
	var fields []*stmt
	for _, c := range slices.Backward(c.chain()) {
		for _, s := range c.body {
			if s.note == nil || len(s.targets) != 1 || s.targets[0].kind != nName || strings.HasPrefix(s.targets[0].name, "_") {
				continue
			}
			same := func(other *stmt) bool { return other.targets[0].name == s.targets[0].name }
			if at := slices.IndexFunc(fields, same); at >= 0 {
				fields[at] = s
			} else {
				fields = append(fields, s)
			}
		}
	}
	return fields
}

// modelOf returns the schema of a pydantic model; that of any object where the model
// is not defined in the file.
func (i *interp) modelOf(v value) *jsonschema.Schema {
	if call, ok := v.(*libraryCall); ok {
		v, _ = call.get(0, "default")
	}
	if c, ok := v.(*class); ok && c.comesFrom("BaseModel", "pydantic", "langchain") {
		return i.model(c)
	}
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
}

// model describes a model's fields. One that names itself ends where calls do.
func (i *interp) model(c *class) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	if i.calls >= maxModels || !i.charge(1) {
		return &jsonschema.Schema{Type: "object"}
	}
	i.calls++
	defer func() { i.calls-- }()
	for _, s := range c.fields() {
		a := i.annotation(s.note, i.globals)
		if ref, ok := i.eval(baseOf(s.note), i.globals).(reference); ok && ref.last() == "ClassVar" || a.schema == nil || schema.Properties.Len() == maxArguments {
			continue
		}
		if choices := i.choicesOf(s.note, i.globals); choices != nil {
			a.schema.Enum, _ = valueList(choices)
			if len(a.schema.Enum) > 0 && !slices.ContainsFunc(a.schema.Enum, func(v any) bool { _, text := v.(string); return !text }) {
				a.schema.Type = "string"
			}
		}
		name := s.targets[0].name
		given := c.members[name]
		if s.value != nil && given == nil { // of a class that it comes from
			given = i.eval(s.value, i.globals)
		}
		if call, ok := given.(*libraryCall); ok {
			describeField(a.schema, call)
			given, _ = call.get(0, "default")
			if factory, ok := call.get(-1, "default_factory"); ok {
				given = factory
			}
		}
		if given == nil || given == (ellipsis{}) {
			schema.Required = append(schema.Required, name)
		} else if v, ok := valueJSON(given); ok {
			a.schema.Default = v
		}
		if a.schema.Type == "" && a.schema.Description == "" {
			a.schema.Description = "Any value."
		}
		schema.Properties.Set(name, a.schema)
	}
	return schema
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

func valueList(v value) ([]any, bool) {
	list, ok := valueJSON(v)
	all, is := list.([]any)
	return all, ok && is
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
