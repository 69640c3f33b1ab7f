package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/library"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// methods evaluate calls.
type methods struct{ *wordReader }

// callNode evaluates a call, or new X(…).
func (e *methods) callNode(n *syntax.Node, s *js.Scope) js.Value {
	if n.Kind == syntax.New {
		return e.construct(n, s)
	}
	if n.Kids[0].Dotted() == "require" || n.Kids[0].Kind == syntax.Name && n.Kids[0].Name == "import" {
		return e.require(n, s)
	}
	callee := e.eval(n.Kids[0], s)
	args, open := e.items(n.Kids[1:], s)
	return e.call(callee, args, open, n.Line)
}

// call calls a value with arguments. Open says that there may be others.
func (e *methods) call(callee js.Value, args []js.Value, open bool, line int32) js.Value {
	switch c := callee.(type) {
	case *js.Closure:
		return e.Apply(c, args, open)
	case js.Method:
		return e.method(c, args, open, line)
	case js.Reference:
		return e.library(c, args, open, line)
	case *js.Class:
		return js.Unknown{}
	case foreign:
		return c.Method(e.libraries.Host, "", args, line)
	}
	e.unknownCall("", args, line)
	return js.Unknown{}
}

// construct evaluates new X(…).
func (e *methods) construct(n *syntax.Node, s *js.Scope) js.Value {
	if len(n.Kids) == 0 {
		return js.Unknown{}
	}
	callee := e.eval(n.Kids[0], s)
	args, open := e.items(n.Kids[1:], s)
	switch c := callee.(type) {
	case *js.Class:
		return e.instance(c, args, open)
	case js.Reference:
		if library.IsCommander(c) {
			return e.libraries.ConstructCommander(c, args, n.Line)
		}
		if c == "Set" && len(args) == 1 {
			return args[0]
		}
		e.unknownCall(string(c), args, n.Line)
		return js.Unknown{}
	}
	e.unknownCall("", args, n.Line)
	return js.Unknown{}
}

// class returns the value of a class.
func (e *methods) class(c *syntax.Class, s *js.Scope) js.Value {
	v := &js.Class{Class: c, Scope: js.NewScope(s, e.unsure), Static: js.NewObject(e.unsure)}
	if c.Extends != nil {
		switch base := e.eval(c.Extends, s).(type) {
		case *js.Class:
			v.Base = base
		case js.Reference:
			if library.IsCommander(base) {
				e.Doubt(c.Extends.Line, "a class extends one of commander")
			}
		}
	}
	v.Scope.Vars[c.Name] = v
	for _, m := range c.Members {
		switch {
		case m.Value == nil || m.Accessor:
		case m.Value.Kind == syntax.FunctionLiteral:
			fn := e.closure(m.Value.Function, v.Scope)
			if m.Static && m.Name == "" {
				e.Apply(fn, nil, false)
			} else if m.Static {
				fn.This = v
				v.Static.Set(m.Name, fn)
			}
		case m.Static:
			v.Static.Set(m.Name, e.eval(m.Value, v.Scope))
		}
	}
	return v
}

// instance evaluates the fields and the constructor of a class.
func (e *methods) instance(c *js.Class, args []js.Value, open bool) js.Value {
	o := js.NewObject(e.unsure)
	o.Class = c
	s := js.NewScope(c.Scope, e.unsure)
	s.This = o
	for _, m := range c.Members {
		if m.Value != nil && !m.Static && m.Value.Kind != syntax.FunctionLiteral {
			o.Set(m.Name, e.eval(m.Value, s))
		}
	}
	if m := c.Method("constructor"); m != nil {
		e.Apply(e.bound(m.Value.Function, c.Scope, o), args, open)
	} else {
		e.unknownCall(c.Name, args, 0)
	}
	return o
}

// method calls a method of a value.
func (e *methods) method(m js.Method, args []js.Value, open bool, line int32) js.Value {
	switch r := m.Receiver.(type) {
	case js.Words:
		return e.wordMethod(r, m.Name, args, line)
	case js.FlagWords:
		switch m.Name {
		case "includes", "has", "indexOf", "some", "find":
			return e.wordMethod(r.Words, m.Name, args, line)
		}
		return e.Doubt(line, "the options are read in a way that is not understood")
	case foreign:
		return r.Method(e.libraries.Host, m.Name, args, line)
	case js.Given:
		return e.givenMethod(r, m.Name, args, line)
	case js.JoinedWord:
		e.unknownCall(m.Name, args, line)
		if m.Name == "split" && len(args) == 1 {
			r.Option.Lacks = "="
			return &js.Array{Items: []js.Value{js.Unknown{}, js.Given{Argument: r.Option}}, Open: true}
		}
		return js.Given{Argument: r.Option}
	case *js.Array:
		return e.arrayMethod(r, m.Name, args, line)
	case string:
		return e.stringMethod(r, m.Name, args)
	case *js.Closure:
		switch m.Name {
		case "call":
			return e.Apply(r, args[min(1, len(args)):], open)
		case "bind":
			return r
		}
	case *js.Object:
		if m.Name == "then" || m.Name == "catch" || m.Name == "finally" {
			e.unknownCall(m.Name, args, line)
			return js.Unknown{}
		}
	}
	e.unknownCall(m.Name, args, line)
	return js.Unknown{}
}

// givenMethod evaluates a method of an argument.
func (e *methods) givenMethod(g js.Given, name string, args []js.Value, line int32) js.Value {
	e.unknownCall(name, args, line)
	switch name {
	case "map", "filter", "forEach", "join", "split", "trim", "toLowerCase", "toUpperCase", "replace", "slice", "substring", "toString":
		return js.Given{Argument: g.Argument, Derived: true}
	}
	return js.Unknown{}
}

func (e *methods) arrayMethod(a *js.Array, name string, args []js.Value, line int32) js.Value {
	switch name {
	case "push", "unshift":
		return e.push(a, args)
	case "forEach", "map":
		c, ok := js.First(args).(*js.Closure)
		if !ok || a.Open || len(a.Items) > maxUnroll {
			break
		}
		result := &js.Array{}
		for i, item := range a.Items {
			result.Items = append(result.Items, e.Apply(c, []js.Value{item, float64(i), a}, false))
		}
		return result
	case "slice":
		if len(args) == 0 {
			return &js.Array{Items: append([]js.Value(nil), a.Items...), Open: a.Open}
		}
	case "concat":
		if other, ok := js.First(args).(*js.Array); ok {
			return &js.Array{Items: append(append([]js.Value(nil), a.Items...), other.Items...), Open: a.Open || other.Open}
		}
	case "join":
		separator, ok := js.First(args).(string)
		var parts []string
		for _, item := range a.Items {
			text, isText := js.ToText(item)
			e.use(item)
			ok = ok && isText
			parts = append(parts, text)
		}
		if ok && !a.Open {
			if text := strings.Join(parts, separator); len(text) < maxText {
				return text
			}
		}
		return js.Unknown{}
	case "includes", "has":
		e.tested(js.First(args))
		return js.Unknown{}
	}
	e.unknownCall(name, args, line)
	return js.Unknown{}
}

// push adds values to a list.
func (e *methods) push(a *js.Array, args []js.Value) js.Value {
	for _, arg := range args {
		switch v := arg.(type) {
		case js.Given:
			if v.Flag != "" && v.Argument.Kind == cli.Value {
				v.Argument.List = true
			}
			a.Open = true
		default:
			if len(a.Items) < maxItems {
				a.Items = append(a.Items, v)
			}
			a.Open = a.Open || e.unsure > 0
		}
	}
	return js.Unknown{}
}

func (e *methods) stringMethod(text, name string, args []js.Value) js.Value {
	argument, isText := js.First(args).(string)
	switch name {
	case "split":
		if isText && argument != "" {
			a := &js.Array{}
			for _, part := range strings.SplitN(text, argument, maxItems) {
				a.Items = append(a.Items, part)
			}
			return a
		}
	case "trim", "trimEnd", "trimStart":
		return strings.TrimSpace(text)
	case "toUpperCase":
		return strings.ToUpper(text)
	case "toLowerCase":
		return strings.ToLower(text)
	case "startsWith":
		if isText {
			return strings.HasPrefix(text, argument)
		}
	case "repeat":
		if n, ok := js.First(args).(float64); ok && n >= 0 && int(n)*len(text) < maxText && n < maxText {
			return strings.Repeat(text, int(n))
		}
	case "replace":
		if by, ok := js.At(args, 1).(string); ok && isText && len(by) < 100 {
			return strings.Replace(text, argument, by, 1)
		}
	case "concat":
		if isText && len(text)+len(argument) < maxText {
			return text + argument
		}
	case "slice", "substring":
		if from, ok := js.First(args).(float64); ok && len(args) == 1 && from >= 0 && int(from) <= len(text) {
			return text[int(from):]
		}
	}
	for _, arg := range args {
		e.use(arg)
		e.Callback(arg)
	}
	return js.Unknown{}
}
