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

// comesFrom reports whether a class, or one of the file that it comes from, has a
// parent of this name of one of the packages.
func (c *class) comesFrom(name string, packages ...string) bool {
	for depth := 0; c != nil && depth < maxCalls && len(c.parents) > 0; depth++ {
		var next *class
		for _, parent := range c.parents {
			if ref, ok := parent.(reference); ok && ref.last() == name {
				return slices.ContainsFunc(packages, func(p string) bool { return strings.HasPrefix(string(ref), p) })
			}
			if own, ok := parent.(*class); ok && next == nil {
				next = own
			}
		}
		c = next
	}
	return false
}

// fields returns the statements that declare a class's fields: those of the
// classes of the file that it comes from first.
func (c *class) fields() []*stmt {
	var chain []*class
	for c != nil && len(chain) < maxCalls {
		chain = append(chain, c)
		var next *class
		for _, parent := range c.parents {
			if own, ok := parent.(*class); ok {
				next = own
				break
			}
		}
		c = next
	}
	var fields []*stmt
	for _, c := range slices.Backward(chain) {
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
	if f, ok := v.(*pydanticField); ok {
		v = f.standard
	}
	if c, ok := v.(*class); ok && c.comesFrom("BaseModel", "pydantic", "langchain") {
		return i.model(c)
	}
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
}

// A pydanticField is a call of Field.
type pydanticField struct {
	standard value // nil without a default
	optional bool
	settings *arguments
}

func newField(a *arguments) *pydanticField {
	f := &pydanticField{settings: a}
	if v, ok := a.get(0, "default"); ok && v != (ellipsis{}) {
		f.standard, f.optional = v, true
	}
	if _, ok := a.get(-1, "default_factory"); ok {
		f.optional = true
	}
	return f
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
		field, ok := given.(*pydanticField)
		if !ok {
			field = &pydanticField{standard: given, optional: s.value != nil, settings: &arguments{}}
		}
		field.describe(a.schema)
		if !field.optional {
			schema.Required = append(schema.Required, name)
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

// describe adds the settings of the call of Field to a schema.
func (f *pydanticField) describe(s *jsonschema.Schema) {
	if f.standard != nil {
		if v, ok := valueJSON(f.standard); ok {
			s.Default = v
		}
	}
	if text, ok := f.settings.named("description", nil).(string); ok {
		s.Description = text
	}
	for name, to := range map[string]*json.Number{"ge": &s.Minimum, "le": &s.Maximum, "gt": &s.ExclusiveMinimum, "lt": &s.ExclusiveMaximum} {
		if v, ok := valueJSON(f.settings.named(name, nil)); ok {
			if n, ok := v.(json.Number); ok {
				*to = n
			}
		}
	}
}
