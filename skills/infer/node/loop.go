package node

import (
	"cmp"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/library"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// An evaluator follows a program as far as its values are known. Where they are not, it
// follows both branches.
type evaluator struct{ *walker }

func newEvaluator(size int) *evaluator {
	st := &state{steps: baseSteps + stepsPerByte*size, refuses: map[*syntax.Node]bool{}, counters: map[*syntax.Function]*js.Counter{}}
	st.Record = &js.Record{Argv: js.NewWordList()}
	st.globals = js.NewScope(nil, 0)
	x := &expressions{state: st}
	f := &functions{binder: &binder{x}}
	r := &wordReader{externals: &externals{f}}
	w := &walker{assumptions: &assumptions{&methods{r}}}
	e := &evaluator{w}
	x.caller, f.follower, r.looper, w.loops = e, e, e, e
	st.libraries = library.New(st.Record, f)
	return e
}

// wordLoop evaluates a loop over the command line that does the same with each word. It
// reports false for another loop. A loop that tells options apart is not understood.
func (e *evaluator) wordLoop(n *syntax.Node, s *js.Scope) bool {
	if n.Kind != syntax.ForOf {
		return e.countsWords(n, s)
	}
	v, list := e.eval(n.Kids[1], s), n.Kids[1]
	if m, entries := v.(js.Method); entries {
		v, list = m.Receiver, nil
	}
	w, ok := v.(js.Words)
	if !ok {
		return false
	}
	pattern := n.Kids[0]
	if pattern.Kind == syntax.Variable {
		pattern = pattern.Kids[0]
	}
	body := n.Kids[len(n.Kids)-1]
	if list == nil || pattern.Kind != syntax.Name || tellsOptions(body, pattern.Name) {
		e.Doubt(n.Line, "the arguments are read in a loop")
		return true
	}
	name := plural(pattern.Name)
	if list.Kind == syntax.Name && list.Name != "args" && list.Name != "argv" {
		name = list.Name
	}
	e.sameForEach(w, name, pattern.Name, body, js.NewScope(s, e.unsure), n.Line)
	return true
}

// countsWords refuses a loop that goes on while words are left.
func (e *evaluator) countsWords(n *syntax.Node, s *js.Scope) bool {
	test := n.Kids[0]
	if n.Kind == syntax.For {
		test = n.Kids[1]
	} else if n.Kind != syntax.While {
		return false
	}
	return test != nil && test.Any(func(n *syntax.Node) bool {
		if n.Kind != syntax.Dot || n.Name != "length" {
			return false
		}
		_, ok := e.eval(n.Kids[0], s).(js.Words)
		if ok {
			e.Doubt(n.Line, "the arguments are read in a loop")
		}
		return ok
	})
}

// eachWord evaluates words.forEach(word => …).
func (e *evaluator) eachWord(w js.Words, c *js.Closure, line int32) bool {
	if len(c.Params) != 1 || c.Params[0].Kind != syntax.Name || c.Body == nil || c.Count > 0 || tellsOptions(c.Body, c.Params[0].Name) {
		return false
	}
	c.Count++
	body := c.Body
	if body.Kind < syntax.Empty {
		body = &syntax.Node{Kind: syntax.Expression, Line: line, Kids: []*syntax.Node{body}}
	}
	name := c.Params[0].Name
	e.sameForEach(w, plural(name), name, body, js.NewScope(c.Scope, e.unsure), line)
	return true
}

// sameForEach evaluates a body for all words that are left, as one argument.
func (e *evaluator) sameForEach(w js.Words, list, word string, body *syntax.Node, s *js.Scope, line int32) {
	rest := e.rest(js.Words{List: w.List, From: max(w.From, 0)}, line)
	if g, ok := rest.(js.Given); ok {
		if !g.Named {
			g.Argument.Name = cmp.Or(list, g.Argument.Name)
		}
		g.Argument.Used = true
	}
	s.Vars[word] = rest
	e.unsure++
	e.block(body, s)
	e.unsure--
}

// tellsOptions reports whether a body compares a variable with texts, or with their
// beginnings.
func tellsOptions(body *syntax.Node, variable string) bool {
	isWord := func(n *syntax.Node) bool { return n != nil && n.Kind == syntax.Name && n.Name == variable }
	return body.Any(func(n *syntax.Node) bool {
		switch n.Kind {
		case syntax.Binary:
			return (n.Name == "===" || n.Name == "==" || n.Name == "!==" || n.Name == "!=") && (isWord(n.Kids[0]) || isWord(n.Kids[1]))
		case syntax.Dot:
			return (n.Name == "startsWith" || n.Name == "match" || n.Name == "split") && isWord(n.Kids[0])
		case syntax.Index:
			return isWord(n.Kids[1])
		case syntax.Switch:
			return isWord(n.Kids[0])
		}
		return false
	})
}

// plural returns the name of a list of what a name means.
func plural(name string) string {
	if strings.HasSuffix(name, "s") {
		return name
	}
	return name + "s"
}
