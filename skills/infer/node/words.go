package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// A wordReader evaluates the methods of the words of the command line.
type wordReader struct {
	*externals
	looper looper
}

// A looper evaluates words.forEach(…). It reports false for a function that it does not
// understand.
type looper interface {
	eachWord(w js.Words, c *js.Closure, line int32) bool
}

// wordMethod evaluates a method of a list of words.
func (e *wordReader) wordMethod(w js.Words, name string, args []js.Value, line int32) js.Value {
	first := js.Value(js.Undefined{})
	if len(args) > 0 {
		first = args[0]
	}
	text, isText := first.(string)
	switch name {
	case "slice":
		switch from, ok := first.(float64); {
		case len(args) == 0:
			return w
		case ok && from >= 0 && len(args) == 1:
			return js.Words{List: w.List, From: w.From + int(from)}
		case len(args) == 1:
			if at, ok := first.(js.Position); ok { // args.slice(i + 1)
				o := at.Option.TakesValue(cli.Apart)
				return o
			}
		}
	case "includes", "indexOf", "lastIndexOf", "has":
		if isText && text != "" {
			return e.lookFor(w, name != "includes" && name != "has", []string{text}, line)
		}
	case "find", "findIndex", "some", "filter", "findLast":
		return e.search(w, name, first, line)
	case "at":
		if at, ok := first.(float64); ok && at >= 0 {
			return e.wordAt(w, at, line)
		}
	case "shift":
		if e.unsure > 0 {
			break
		}
		v := e.wordAt(w, 0.0, line)
		w.List.Shifted++
		return v
	case "splice":
		if _, ok := first.(js.Position); ok {
			w.List.Filtered = true
			return js.Unknown{}
		}
	case "entries":
		return js.Method{Receiver: w, Name: "entries"}
	case "forEach":
		if c, ok := first.(*js.Closure); ok && e.looper.eachWord(w, c, line) {
			return js.Undefined{}
		}
	case "join", "map", "every", "reduce", "flatMap", "toString", "concat", "sort":
		if c, ok := first.(*js.Closure); ok && takesApart(c) {
			break
		}
		e.Callback(first)
		return e.rest(w, line)
	}
	return e.Doubt(line, "the command line is read with %s in a way that is not understood", name)
}

// takesApart reports whether a function may look into the words that it is given.
func takesApart(c *js.Closure) bool {
	return c.Body.Any(func(n *syntax.Node) bool {
		switch {
		case n.Kind == syntax.String:
			return n.Name == "=" || n.Name == "--"
		case n.Kind != syntax.Dot || n.Name != "split" && n.Name != "startsWith" && n.Name != "match":
			return false
		}
		root := n.Kids[0]
		for root.Kind == syntax.Dot || root.Kind == syntax.Call && root.Kids[0].Kind == syntax.Dot {
			root = root.Kids[0]
		}
		return root.Kind != syntax.Call || root.Kids[0].Kind != syntax.Name // a function's result is no word
	})
}

// lookFor returns whether, or where, one of the flags is among the words.
func (e *wordReader) lookFor(w js.Words, where bool, flags []string, line int32) js.Value {
	if js.IsHelp(flags[0]) || flags[0] == "--" {
		return js.Unknown{}
	}
	if !strings.HasPrefix(flags[0], "-") {
		return e.Doubt(line, "%q is looked for among the arguments", flags[0])
	}
	o := w.List.Option(flags, line)
	if where {
		return js.Position{Option: o, By: 0}
	}
	return js.Present{Option: o}
}

// search evaluates find, findIndex, some and filter.
func (e *wordReader) search(w js.Words, name string, test js.Value, line int32) js.Value {
	c, _ := test.(*js.Closure)
	p := e.predicate(c)
	switch {
	case p.notDash && name == "filter":
		w.List.Filtered = true
		return js.Words{List: w.List, From: w.From}
	case p.notDash && name == "find":
		w.List.Filtered = true
		return e.wordAt(w, 0.0, line)
	case (p.prefix == "-" || p.prefix == "--") && name == "filter":
		return js.FlagWords{Words: w}
	case len(p.equals) > 0 && name != "filter":
		return e.lookFor(w, name == "findIndex", p.equals, line)
	case strings.HasSuffix(p.prefix, "=") && len(p.prefix) > 2 && name != "filter" && name != "findIndex":
		o := w.List.Option([]string{strings.TrimSuffix(p.prefix, "=")}, line)
		o.TakesValue(cli.Joined)
		o.Form = cli.Joined
		return js.JoinedWord{Option: o}
	}
	return e.Doubt(line, "the arguments are searched in a way that is not understood")
}

// A predicate is a test of one word.
type predicate struct {
	equals  []string // it is one of these
	prefix  string   // it begins with this
	notDash bool     // it does not begin with a dash
}

// predicate returns the test that a function makes of its parameter. The zero value is
// any other.
func (e *wordReader) predicate(c *js.Closure) predicate {
	if c == nil || len(c.Params) == 0 || c.Params[0].Kind != syntax.Name {
		return predicate{}
	}
	c.Count++
	body := c.Body
	if body.Kind == syntax.Block && len(body.Kids) == 1 && body.Kids[0].Kind == syntax.Return {
		body = body.Kids[0].Kids[0]
	}
	if body == nil {
		return predicate{}
	}
	return e.wordTest(body, c.Scope, func(n *syntax.Node) bool { return n.Kind == syntax.Name && n.Name == c.Params[0].Name })
}

// wordTest returns the test that a condition makes of a word.
func (e *wordReader) wordTest(n *syntax.Node, s *js.Scope, isWord func(*syntax.Node) bool) predicate {
	switch {
	case n.Kind == syntax.Binary && (n.Name == "===" || n.Name == "=="):
		for i := range n.Kids {
			if isWord(n.Kids[i]) {
				if text, ok := e.eval(n.Kids[1-i], s).(string); ok {
					return predicate{equals: []string{text}}
				}
			}
		}
	case n.Kind == syntax.Binary && n.Name == "||":
		a, b := e.wordTest(n.Kids[0], s, isWord), e.wordTest(n.Kids[1], s, isWord)
		switch {
		case len(a.equals) > 0 && len(b.equals) > 0:
			return predicate{equals: append(a.equals, b.equals...)}
		case len(a.equals) > 0 && b.prefix == a.equals[0]+"=":
			return predicate{equals: a.equals, prefix: b.prefix}
		}
	case n.Kind == syntax.Binary && n.Name == "&&":
		a := e.wordTest(n.Kids[0], s, isWord)
		if isWord(n.Kids[0]) {
			return e.wordTest(n.Kids[1], s, isWord)
		}
		if !n.Kids[1].Any(isWord) || a.notDash {
			return a
		}
	case n.Kind == syntax.Unary && n.Name == "!":
		if p := e.wordTest(n.Kids[0], s, isWord); p.prefix == "-" || p.prefix == "--" {
			return predicate{notDash: true}
		}
	case n.Kind == syntax.Call && n.Kids[0].Kind == syntax.Dot && len(n.Kids) == 2:
		callee := n.Kids[0]
		switch {
		case callee.Name == "startsWith" && isWord(callee.Kids[0]):
			if text, ok := e.eval(n.Kids[1], s).(string); ok {
				return predicate{prefix: text}
			}
		case callee.Name == "includes" && isWord(n.Kids[1]):
			if list, ok := e.eval(callee.Kids[0], s).(*js.Array); ok && !list.Open {
				var p predicate
				for _, item := range list.Items {
					text, ok := item.(string)
					if !ok {
						return predicate{}
					}
					p.equals = append(p.equals, text)
				}
				return p
			}
		}
	}
	return predicate{}
}
