package python

import (
	"cmp"
	"strings"

	"github.com/invopop/jsonschema"
)

// A Function is one of a module that LangChain's @tool makes a tool of, or a class
// that comes from its BaseTool.
type Function struct {
	Name   string // the tool's
	Python string // the function's, or the class's
	Line   int    // of its def, from 1
	Doc    string // its docstring without indentation, or the decorator's description
	// Params describes its arguments: an object with a property for each
	// parameter that a caller gives.
	Params *jsonschema.Schema
	// Needs are the required parameters of the class's constructor; with any, no
	// call works.
	Needs []string `json:",omitempty"`
}

// Tools returns the functions of a module that are decorated with @tool of
// LangChain, and the classes that come from its BaseTool, in the order of the
// source; none where the source cannot be read. Arguments that have a model of
// another file (args_schema) have a schema that takes any.
func Tools(source []byte) []Function {
	m := NewModule(source)
	body, err := m.parse()
	if err != nil {
		return nil
	}
	t := newTypeReader("", m, &notes{})
	var found []Function
	for _, s := range body {
		switch s.kind {
		case sImport, sAssign:
			t.execute(s, &frame{scope: t.globals})
		case sClass:
			t.execute(s, &frame{scope: t.globals})
			c, _ := t.globals.vars[s.class.name].(*class)
			if f, ok := t.toolClass(c); ok && len(found) < maxArguments {
				f.Line = s.line
				found = append(found, f)
			}
		case sDef:
			fn := m.functions.of(s.function)
			if decorator := t.toolDecorator(fn); decorator != nil && len(found) < maxArguments {
				found = append(found, t.tool(fn, decorator))
			}
		}
	}
	return found
}

// toolDecorator returns a function's decorator @tool, called or not.
func (t typeReader) toolDecorator(fn *function) *node {
	for _, decorator := range fn.decorators {
		callee := decorator
		if callee.kind == nCall {
			callee = callee.kids[0]
		}
		ref, ok := t.eval(callee, t.globals).(reference)
		if ok && ref.last() == "tool" && strings.HasPrefix(string(ref), "langchain") {
			return decorator
		}
	}
	return nil
}

func (t typeReader) tool(fn *function, decorator *node) Function {
	f := Function{Name: fn.name, Python: fn.name, Line: fn.line, Doc: fn.doc()}
	f.Params = t.paramsOf(fn, 0)
	if decorator.kind != nCall {
		return f
	}
	a := t.arguments(decorator, t.globals)
	if name, ok := a.first().(string); ok {
		f.Name = name
	}
	if description, ok := a.named("description", nil).(string); ok {
		f.Doc = description
	}
	if model, ok := a.get(-1, "args_schema"); ok {
		f.Params = t.modelOf(model)
	}
	return f
}

func (t typeReader) paramsOf(fn *function, from int) *jsonschema.Schema {
	schema := newObject()
	described := describedArgs(fn.doc())
	for _, p := range fn.params[min(from, len(fn.params)):] {
		if p.star != "" || p.name == "callbacks" || p.name == "run_manager" || schema.Properties.Len() == maxArguments {
			continue
		}
		property, _ := t.annotation(p.annotation, t.globals)
		if property == nil {
			continue
		}
		property.Description = cmp.Or(property.Description, described[p.name])
		var standard value
		if p.fallback != nil {
			standard = t.eval(p.fallback, t.globals)
		}
		addParameter(schema, p.name, property, standard)
	}
	return schema
}

// describedArgs reads the "Args:" of a docstring in Google's style.
func describedArgs(doc string) map[string]string {
	described := map[string]string{}
	_, args, found := strings.Cut("\n"+doc, "\nArgs:\n")
	if !found {
		return described
	}
	last := ""
	for _, line := range strings.Split(args, "\n") {
		text := strings.TrimSpace(line)
		if text == "" || line[0] != ' ' {
			break
		}
		name, description, ok := strings.Cut(text, ":")
		name, _, _ = strings.Cut(name, " (")
		if ok && !strings.Contains(name, " ") {
			last = name
			described[name] = strings.TrimSpace(description)
		} else if last != "" {
			described[last] += " " + text
		}
	}
	return described
}

// toolClass reads a class that comes from LangChain's BaseTool and has something
// to run.
func (t typeReader) toolClass(c *class) (f Function, ok bool) {
	if c == nil || !c.comesFrom("BaseTool", "langchain") || strings.HasPrefix(c.name, "_") {
		return f, false
	}
	run, ok := c.members["_run"].(*function)
	if !ok {
		if run, ok = c.members["_arun"].(*function); !ok {
			return f, false
		}
	}
	f = Function{Name: cmp.Or(c.text("name"), c.name), Python: c.name, Doc: cmp.Or(c.text("description"), docstring(c.body)), Needs: c.needs()}
	if model := c.members["args_schema"]; model != nil && !isNone(model) {
		f.Params = t.modelOf(model)
	} else {
		f.Params = t.paramsOf(run, 1) // behind self
	}
	return f, true
}

// needs returns the constructor's parameters that have no default.
func (c *class) needs() []string {
	var names []string
	if init, ok := c.members["__init__"].(*function); ok {
		for at, p := range init.params {
			if at > 0 && p.star == "" && p.fallback == nil {
				names = append(names, p.name)
			}
		}
		return names
	}
	for _, field := range c.fields {
		if name := field.targets[0].name; field.value == nil && name != "name" && name != "description" {
			names = append(names, name)
		}
	}
	return names
}

// text returns a member that is text, and "" for any other.
func (c *class) text(name string) string {
	text, _ := c.members[name].(string)
	return strings.TrimSpace(text)
}
