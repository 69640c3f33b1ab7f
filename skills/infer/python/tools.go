package python

import (
	"cmp"
	_ "embed" // the runner
	"path"
	"strings"
	"unicode"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
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
	t := typeReader{newEvaluator("", m, new(cli.Notes))}
	module := &frame{eval: t.eval, scope: t.eval.globals}
	var found []Function
	for _, s := range body {
		switch s.Kind {
		case syntax.ImportStmt, syntax.AssignStmt:
			module.execute(s)
		case syntax.ClassStmt:
			module.execute(s)
			c, _ := t.eval.globals.vars[s.Class.Name].(*class)
			if f, ok := t.toolClass(c); ok && len(found) < maxArguments {
				f.Line = s.Line
				found = append(found, f)
			}
		case syntax.DefStmt:
			fn := m.functions.get(s.Function)
			if decorator := t.toolDecorator(fn); decorator != nil && len(found) < maxArguments {
				found = append(found, t.tool(fn, decorator))
			}
		}
	}
	return found
}

// toolDecorator returns a function's decorator @tool, called or not.
func (t typeReader) toolDecorator(fn *function) *syntax.Node {
	for _, decorator := range fn.Decorators {
		callee := decorator
		if callee.Kind == syntax.Call {
			callee = callee.Kids[0]
		}
		ref, ok := t.eval.value(callee, t.eval.globals).(reference)
		if ok && ref.last() == "tool" && strings.HasPrefix(string(ref), "langchain") {
			return decorator
		}
	}
	return nil
}

func (t typeReader) tool(fn *function, decorator *syntax.Node) Function {
	f := Function{Name: fn.Name, Python: fn.Name, Line: fn.Line, Doc: fn.Doc()}
	f.Params = t.paramsOf(fn, 0)
	if decorator.Kind != syntax.Call {
		return f
	}
	a := t.eval.arguments(decorator, t.eval.globals)
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
	for _, p := range fn.Params[min(from, len(fn.Params)):] {
		if p.Star != "" || p.Name == "callbacks" || p.Name == "run_manager" || schema.Properties.Len() == maxArguments {
			continue
		}
		property := t.annotation(p.Annotation, t.eval.globals)
		if property == nil {
			continue
		}
		var standard value
		if p.Fallback != nil {
			standard = t.eval.value(p.Fallback, t.eval.globals)
		}
		addParameter(schema, p.Name, property, standard)
	}
	return schema
}

// toolClass reads a class that comes from LangChain's BaseTool and has something
// to run.
func (t typeReader) toolClass(c *class) (f Function, ok bool) {
	if c == nil || !c.comesFrom("BaseTool", "langchain") || strings.HasPrefix(c.Name, "_") {
		return f, false
	}
	run, ok := c.members["_run"].(*function)
	if !ok {
		if run, ok = c.members["_arun"].(*function); !ok {
			return f, false
		}
	}
	f = Function{Name: cmp.Or(c.text("name"), c.Name), Python: c.Name, Doc: cmp.Or(c.text("description"), syntax.Docstring(c.Body)), Needs: c.needs()}
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
		for at, p := range init.Params {
			if at > 0 && p.Star == "" && p.Fallback == nil {
				names = append(names, p.Name)
			}
		}
		return names
	}
	for _, field := range c.fields {
		if name := field.Targets[0].Name; field.Value == nil && name != "name" && name != "description" {
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

// Code returns the Python code of a file. That of a Markdown file defines tools: the blocks,
// at their lines, that LangChain's @tool or BaseTool stands in. [FunctionInterpreter] finds
// the same.
func Code(name string, content []byte) []byte {
	if !strings.EqualFold(path.Ext(name), ".md") {
		return content
	}
	var code, block []string
	inside, kept := false, false
	for line := range strings.SplitSeq(string(content)+"\n```", "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		fence, _, _ := strings.Cut(strings.ToLower(line), " ")
		switch {
		case inside && fence == "```":
			if !kept {
				clear(block)
			}
			code = append(append(code, block...), "")
			block, inside, kept = nil, false, false
		case inside:
			block = append(block, line)
			kept = kept || strings.HasPrefix(line, "@tool") || strings.Contains(line, "(BaseTool)")
		default:
			inside = fence == "```python" || fence == "```py" || fence == "```python3"
			code = append(code, "")
		}
	}
	code[0] = "from langchain_core.tools import BaseTool, tool" // the first line is a fence
	return []byte(strings.Join(code, "\n"))
}

// runner calls a function of a Python file as a command: its keyword arguments are a
// JSON object on standard input, and it prints what the function returns. It calls
// a function that LangChain's @tool decorates as if it were not, with or without
// LangChain.
//
//go:embed runner.py
var runner string

// FunctionInterpreter returns the command that runs a function. The file and the
// name of the function follow it, in this order. It needs Python 3.8.
func FunctionInterpreter() []string { return []string{"python3", "-c", runner} }

// publicName is a name of Python's in ASCII that is not private.
var publicName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)

// IsCallable reports whether [FunctionInterpreter] runs a function of this name.
func IsCallable(name string) bool { return publicName.MatchString(name) }
