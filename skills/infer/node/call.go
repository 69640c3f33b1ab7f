package node

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// call evaluates a call, or new X(…).
func (e *evaluator) call(n *syntax.Node, s *js.Scope) js.Value {
	if len(n.Kids) == 0 {
		return js.Unknown{}
	}
	if name := n.Kids[0].Dotted(); (name == "require" || name == "import") && len(n.Kids) > 1 {
		if name, ok := e.eval(n.Kids[1], s).(string); ok {
			return e.module(name, n.Line)
		}
		return js.Unknown{}
	}
	callee := e.eval(n.Kids[0], s)
	args, open := e.items(n.Kids[1:], s)
	switch c := callee.(type) {
	case *js.Closure:
		if n.Kind == syntax.Call {
			return e.apply(c, args, open)
		}
	case js.Method:
		return e.method(c, args, n.Line)
	case js.Reference:
		return e.outside(c, args, n)
	}
	return e.unknownCall("", args, n.Line)
}

// outside calls a function outside of the source, or creates an object of one.
func (e *evaluator) outside(r js.Reference, args []js.Value, n *syntax.Node) js.Value {
	if n.Kind == syntax.New {
		if r == "Set" && len(args) == 1 {
			return args[0]
		}
		return e.unknownCall(string(r), args, n.Line)
	}
	switch r {
	case "process.exit", "Deno.exit", "process.abort", "process.reallyExit":
		code, isNumber := js.First(args).(float64)
		if isNumber && code != 0 {
			e.end.fail(e.unsure)
		} else {
			e.end.mayEnd = e.end.mayEnd || e.unsure > 0
		}
		return js.Never{}
	case "parseInt", "Number.parseInt":
		return converted(args, "integer", e.under > 0)
	case "parseFloat", "Number.parseFloat", "Number":
		return converted(args, "number", e.under > 0)
	case "String", "Object.freeze", "Object.seal", "Array.from", "structuredClone":
		if len(args) == 1 {
			return args[0]
		}
	case "Boolean", "isNaN", "Number.isNaN", "Number.isInteger", "Number.isFinite", "isFinite", "Array.isArray":
		tested(js.First(args))
		return js.Unknown{}
	}
	if r == "util.parseArgs" {
		return parseArgs(e.found, args, n.Line)
	}
	e.unknownCall(string(r), args, n.Line)
	for _, arg := range args {
		if v, ok := arg.(js.Given); ok && !strings.HasPrefix(string(r), "console.") {
			return js.Given{Argument: v.Argument, Derived: true}
		}
	}
	return js.Unknown{}
}

// converted returns an argument that becomes a number.
func converted(args []js.Value, typ string, some bool) js.Value {
	if g, ok := js.First(args).(js.Given); ok {
		if some {
			g.Some()
		}
		g.SetType(typ)
		return js.Given{Argument: g.Argument}
	}
	if f, ok := js.First(args).(float64); ok {
		return f
	}
	return js.Unknown{}
}

// method calls a method of a value.
func (e *evaluator) method(m js.Method, args []js.Value, line int32) js.Value {
	switch r := m.Receiver.(type) {
	case js.Words:
		return e.wordMethod(r, m.Name, args, line)
	case *js.Closure: // call, apply, bind
		e.callback(r)
	case string:
		return textMethod(r, m.Name)
	case *js.Array:
		switch m.Name {
		case "includes", "has":
			return among(r, js.First(args))
		case "indexOf", "join":
			tested(js.First(args))
		default:
			r.Open = true // it may have others behind the call
		}
	}
	e.unknownCall(m.Name, args, line)
	switch r := m.Receiver.(type) {
	case js.Given:
		switch m.Name {
		case "map", "filter", "forEach", "join", "split", "trim", "toLowerCase", "toUpperCase", "replace", "slice", "substring", "toString":
			return js.Given{Argument: r.Argument, Derived: true}
		}
	case js.JoinedWord:
		if m.Name == "split" && len(args) == 1 {
			r.Option.Lacks = "="
			return &js.Array{Items: []js.Value{js.Unknown{}, js.Given{Argument: r.Option}}, Open: true}
		}
		return js.Given{Argument: r.Option}
	}
	return js.Unknown{}
}

// textMethod calls a method of a text.
func textMethod(text, name string) js.Value {
	switch name {
	case "toLowerCase":
		return strings.ToLower(text)
	case "trim", "toString":
		return strings.TrimSpace(text)
	}
	return js.Unknown{}
}

// among returns whether a list has a value.
func among(list *js.Array, v js.Value) js.Value {
	tested(v)
	texts, known := js.TextsOf(list)
	text, isText := v.(string)
	if g, ok := v.(js.Given); ok {
		g.Compare(texts...)
	}
	if known && isText {
		return slices.Contains(texts, text)
	}
	return js.Unknown{}
}

// wordMethod calls a method of a list of words.
func (e *evaluator) wordMethod(words js.Words, name string, args []js.Value, line int32) js.Value {
	w := e.wordCall(words, line)
	c, isClosure := js.First(args).(*js.Closure)
	switch {
	case isClosure && (name == "find" || name == "filter" || name == "some"):
		e.called[c.Function]++
		notDash, prefix := testOfWord(c.Function, func(n *syntax.Node) js.Value { return e.eval(n, c.Scope) })
		return w.search(name, notDash, prefix)
	case isClosure:
		e.callback(c)
	}
	return w.method(name, args)
}

func (e *evaluator) wordCall(words js.Words, line int32) wordCall {
	return wordCall{words, e.found, line}
}

// unknownCall gives arguments to something that is not known.
func (e *evaluator) unknownCall(name string, args []js.Value, line int32) js.Value {
	for _, arg := range args {
		e.escapes(name, arg, line)
	}
	return js.Unknown{}
}

// escapes notes that a value is given to something that is not known.
func (e *evaluator) escapes(name string, v js.Value, line int32) {
	if e.nested >= maxNested || !e.charge() {
		return
	}
	e.nested++
	defer func() { e.nested-- }()
	switch v := v.(type) {
	case js.Words:
		if v.List.Declared > 0 || v.From > 0 {
			e.found.Rest(v, line)
			return
		}
		if name == "" {
			name = "a function"
		}
		e.found.Doubt(line, "the command line is passed to %s, which is not understood", name)
	case js.Given:
		e.use(v)
	case *js.Closure:
		e.callback(v)
	case *js.Array:
		e.unknownCall(name, v.Items, line)
	case *js.Object:
		for _, key := range v.Keys {
			e.escapes(name, v.Values[key], line)
		}
	}
}

// callback evaluates a function that is called with values that are not known.
func (e *evaluator) callback(v js.Value) {
	if c, ok := v.(*js.Closure); ok && e.called[c.Function] == 0 {
		e.unsure++
		e.apply(c, nil, true)
		e.unsure--
	}
}

// apply calls a function of the source. Open reports that there may be other arguments.
func (e *evaluator) apply(c *js.Closure, args []js.Value, open bool) js.Value {
	if c.Body == nil || e.busy[c.Function] || e.calls >= maxCalls || e.called[c.Function] >= maxRepeats || !e.charge() {
		return e.unknownCall(c.Name, args, c.Line)
	}
	e.busy[c.Function] = true
	e.called[c.Function]++
	e.calls++
	before, mayReturn := e.returns, e.end.mayReturn
	e.returns = nil
	defer func() {
		e.busy[c.Function] = false
		e.calls--
		e.returns, e.end.mayReturn = before, mayReturn
	}()
	s := js.NewScope(c.Scope, e.unsure)
	binding{e, s, true}.parameters(c.Function, args, open)
	if c.Body.Kind < syntax.Empty {
		return e.eval(c.Body, s)
	}
	done := frame{e, s}.follow(c.Body.Kids)
	if len(e.returns) == 0 && done != exits {
		return js.Undefined{}
	}
	var result js.Value = js.Never{}
	for _, v := range e.returns {
		result = join(result, v)
	}
	if done == normal {
		result = join(result, js.Undefined{})
	}
	return result
}
