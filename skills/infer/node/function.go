package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/library"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// functions call the functions of a program.
type functions struct {
	*binder
	follower follower
}

// A follower evaluates the statements of a function.
type follower interface {
	follow(body []*syntax.Node, s *js.Scope) completion
}

// A completion is the way in which a statement ends.
type completion uint8

const (
	normal  completion = iota
	jumps              // break or continue
	returns            // from the function
	exits              // the program ends, or an error is thrown
)

// unknownCall notes that arguments are given to something that is not known.
func (e *functions) unknownCall(name string, args []js.Value, line int32) {
	for _, arg := range args {
		e.escapes(name, arg, line)
	}
}

// escapes notes that a value is given to something that is not known.
func (e *functions) escapes(name string, v js.Value, line int32) {
	if e.nested >= maxNested || !e.charge() {
		return
	}
	e.nested++
	defer func() { e.nested-- }()
	switch v := v.(type) {
	case js.Words:
		if v.List.Declared || v.From+v.List.Shifted > 0 {
			e.rest(v, line)
			return
		}
		e.Doubt(line, "the command line is passed to %s, which is not understood", display(name))
	case js.Given:
		e.use(v)
	case js.FlagWords:
		e.escapes(name, js.Words{List: v.List, From: 0}, line)
	case js.JoinedWord:
	case *js.Closure:
		e.Callback(v)
	case *library.Commander:
		e.Doubt(line, "a command is passed to something that may add options")
	case *js.Array:
		for _, item := range v.Items {
			e.escapes(name, item, line)
		}
	case *js.Object:
		if v.Class == nil {
			for _, key := range v.Keys {
				e.escapes(name, v.Values[key], line)
			}
		}
	}
}

func display(name string) string {
	if name == "" {
		return "a function"
	}
	return name
}

// Callback evaluates a function that is called with values that are not known.
func (e *functions) Callback(v js.Value) {
	c, ok := v.(*js.Closure)
	if !ok || c.Count > 0 {
		return
	}
	e.unsure++
	e.Apply(c, nil, true)
	e.unsure--
}

// Apply calls a function of the source.
func (e *functions) Apply(c *js.Closure, args []js.Value, open bool) js.Value {
	if c.Body == nil || c.Busy > 0 || e.calls >= maxCalls || c.Count >= maxRepeats || !e.charge() {
		for _, arg := range args {
			e.escapes(c.Name, arg, c.Line)
		}
		return js.Unknown{}
	}
	c.Busy++
	c.Count++
	e.calls++
	e.stack = append(e.stack, isMain(c.Name))
	before := e.returns
	e.returns = nil
	defer func() {
		c.Busy--
		e.calls--
		e.returns = before
		e.stack = e.stack[:len(e.stack)-1]
	}()
	s := js.NewScope(c.Scope, e.unsure)
	s.This = c.This
	e.parameters(c.Function, args, open, s)
	if c.Body.Kind != syntax.Block {
		return e.eval(c.Body, s)
	}
	done := e.follower.follow(c.Body.Kids, s)
	if len(e.returns) == 0 {
		if done == exits {
			return js.Never{}
		}
		return js.Undefined{}
	}
	var result js.Value = js.Never{}
	for _, v := range e.returns {
		result = e.join(result, v)
	}
	if done == normal {
		result = e.join(result, js.Undefined{})
	}
	return result
}

// isMain reports whether a function of this name is the program's body.
func isMain(name string) bool {
	switch name {
	case "main", "run", "cli", "start", "":
		return true
	}
	return false
}
