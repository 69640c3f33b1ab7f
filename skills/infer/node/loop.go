package node

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
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

// A wordLoop is a loop over the words of the command line, in which options are told
// apart by comparisons.
type wordLoop struct {
	*evaluator
	list      js.Words
	index     string          // the variable with the place; "" for none
	shifts    bool            // words are removed from the start
	names     map[string]bool // variables with the word
	nexts     map[string]bool // variables with the word behind it
	values    map[string]bool // variables with what stands behind = in the word
	bare      map[string]bool // variables with the word without its dashes
	options   int
	first     *syntax.Node // the declaration of the word that is removed
	bodyScope *js.Scope
	listName  string // the variable with the list; "" for none that tells
}

// wordLoop evaluates a loop over the command line. It reports false for another loop.
func (e *evaluator) wordLoop(n *syntax.Node, s *js.Scope) bool {
	l := &wordLoop{evaluator: e, names: map[string]bool{}, nexts: map[string]bool{}, values: map[string]bool{}, bare: map[string]bool{}}
	inner := js.NewScope(s, e.unsure)
	found := false
	switch n.Kind {
	case syntax.ForOf:
		found = l.overWords(n, s)
	case syntax.For:
		found = n.Kids[0] != nil && l.byIndex(n, inner)
	case syntax.While:
		found = l.byCondition(n.Kids[0], s)
	}
	if !found {
		return false
	}
	l.run(n.Kids[len(n.Kids)-1], inner, n.Line)
	return true
}

// eachWord evaluates words.forEach((word, i) => …).
func (e *evaluator) eachWord(w js.Words, c *js.Closure, line int32) bool {
	if len(c.Params) == 0 || c.Params[0].Kind != syntax.Name || c.Body == nil || c.Count > 0 {
		return false
	}
	c.Count++
	l := &wordLoop{evaluator: e, list: w, names: map[string]bool{c.Params[0].Name: true}, nexts: map[string]bool{}, values: map[string]bool{}, bare: map[string]bool{}}
	if len(c.Params) > 1 && c.Params[1].Kind == syntax.Name {
		l.index = c.Params[1].Name
	}
	body := c.Body
	if body.Kind < syntax.Empty {
		body = &syntax.Node{Kind: syntax.Expression, Line: line, Kids: []*syntax.Node{body}}
	}
	l.run(body, js.NewScope(c.Scope, e.unsure), line)
	return true
}

// overWords reads for (const word of words).
func (l *wordLoop) overWords(n *syntax.Node, s *js.Scope) bool {
	v := l.eval(n.Kids[1], s)
	pattern := n.Kids[0]
	if pattern.Kind == syntax.Variable {
		pattern = pattern.Kids[0]
	}
	m, entries := v.(js.Method)
	if entries {
		v = m.Receiver
	}
	w, ok := js.AsWords(v)
	if !ok {
		return false
	}
	l.list = w
	if n.Kids[1].Kind == syntax.Name && n.Kids[1].Name != "args" && n.Kids[1].Name != "argv" {
		l.listName = n.Kids[1].Name
	}
	switch {
	case pattern.Kind == syntax.Name && !entries:
		l.names[pattern.Name] = true
	case pattern.Kind == syntax.Array && entries && len(pattern.Kids) == 2 && pattern.Kids[0] != nil && pattern.Kids[1] != nil:
		l.index = pattern.Kids[0].Name
		l.names[pattern.Kids[1].Name] = true
	default:
		return false
	}
	return true
}

// byIndex reads for (let i = 0; i < words.length; i++).
func (l *wordLoop) byIndex(n *syntax.Node, s *js.Scope) bool {
	if n.Kids[0].Kind == syntax.Variable {
		l.statement(n.Kids[0], s)
	} else {
		l.eval(n.Kids[0], s)
	}
	return l.byCondition(n.Kids[1], s)
}

// byCondition reads the condition i < words.length, or words.length > 0.
func (l *wordLoop) byCondition(test *syntax.Node, s *js.Scope) bool {
	found := false
	test.Any(func(n *syntax.Node) bool {
		if n.Kind != syntax.Dot || n.Name != "length" || found {
			return false
		}
		if w, ok := js.AsWords(l.eval(n.Kids[0], s)); ok {
			l.list, found = w, true
		}
		return false
	})
	if !found {
		return false
	}
	test.Any(func(n *syntax.Node) bool {
		if n.Kind == syntax.Name && l.index == "" {
			if from, ok := l.lookup(n.Name, s).(float64); ok {
				l.index = n.Name
				l.list.From += int(from)
			}
		}
		return false
	})
	l.shifts = l.index == ""
	return true
}

// run evaluates the body.
func (l *wordLoop) run(body *syntax.Node, s *js.Scope, line int32) {
	l.list.From += l.list.List.Shifted
	l.list.List.LoopBase = max(l.list.From, 0)
	l.list.List.Looped = max(l.list.List.Looped, l.list.List.LoopBase)
	if l.index != "" {
		s.Vars[l.index] = js.Unknown{}
	}
	l.unsure++
	defer func() { l.unsure-- }()
	if !l.tells(body, s) {
		l.all(body, s, line)
		return
	}
	if !l.walk(body, s) {
		l.Doubt(line, "the arguments are read in a loop that is not understood")
	}
}

// all evaluates a body that does the same with each word.
func (l *wordLoop) all(body *syntax.Node, s *js.Scope, line int32) {
	rest := l.rest(js.Words{List: l.list.List, From: max(l.list.From-l.list.List.Shifted, 0)}, line)
	if g, ok := rest.(js.Given); ok {
		for name := range l.names {
			if !g.Named {
				g.Argument.Name = cmp.Or(l.listName, plural(name))
			}
			s.Vars[name] = rest
		}
		g.Argument.Used = true
	}
	l.with(body, func(n *syntax.Node) (js.Value, bool) { return rest, l.isWord(n) || l.isNext(n) }, func() { l.block(body, s) })
}

// with evaluates something while the nodes of a tree have other values.
func (l *wordLoop) with(tree *syntax.Node, of func(*syntax.Node) (js.Value, bool), do func()) {
	if l.override == nil {
		l.override = map[*syntax.Node]js.Value{}
	}
	var set []*syntax.Node
	tree.Each(func(n *syntax.Node) bool {
		if v, ok := of(n); ok {
			if _, already := l.override[n]; !already {
				l.override[n] = v
				set = append(set, n)
			}
			return false
		}
		return true
	})
	do()
	for _, n := range set {
		delete(l.override, n)
	}
}

// isList reports whether an expression is the list of the loop.
func (l *wordLoop) isList(n *syntax.Node) bool {
	if n.Kind != syntax.Name && n.Kind != syntax.Dot {
		return false
	}
	w, ok := js.AsWords(l.eval(n, l.bodyScope))
	return ok && w.List == l.list.List
}

// isWord reports whether an expression is the word of the round.
func (l *wordLoop) isWord(n *syntax.Node) bool {
	switch n.Kind {
	case syntax.Name:
		return l.names[n.Name]
	case syntax.Index:
		at := n.Kids[1]
		return l.index != "" && at.Kind == syntax.Name && at.Name == l.index && l.isList(n.Kids[0])
	}
	return false
}

// isNext reports whether an expression is the word behind that of the round.
func (l *wordLoop) isNext(n *syntax.Node) bool {
	switch n.Kind {
	case syntax.Name:
		return l.nexts[n.Name]
	case syntax.Index:
		at := n.Kids[1]
		if l.index == "" || !l.isList(n.Kids[0]) {
			return false
		}
		switch at.Kind {
		case syntax.Update:
			return at.Name == "++" && at.Kids[0].Name == l.index && !at.Optional
		case syntax.Binary:
			return at.Name == "+" && at.Kids[0].Name == l.index && at.Kids[1].Name == "1"
		case syntax.Assign:
			return at.Name == "+=" && at.Kids[0].Name == l.index
		}
		return l.shifts && at.Name == "0"
	case syntax.Call:
		callee := n.Kids[0]
		return l.shifts && callee.Kind == syntax.Dot && callee.Name == "shift" && l.isList(callee.Kids[0])
	}
	return false
}

// tells reports whether a body compares the word with options.
func (l *wordLoop) tells(body *syntax.Node, s *js.Scope) bool {
	l.bodyScope = s
	if l.shifts { // the word is the first that is removed
		found := false
		body.Any(func(n *syntax.Node) bool {
			if found || n.Kind != syntax.Assign {
				return false
			}
			target, call := n.Kids[0], n.Kids[1]
			if target.Kind == syntax.Name && l.isNext(call) && call.Kind == syntax.Call {
				l.names[target.Name], found = true, true
				l.first = n
			}
			return false
		})
		if !found {
			return true
		}
	}
	names := map[string]bool{}
	body.Any(func(n *syntax.Node) bool { // const word = words[i]
		if n.Kind == syntax.Assign && n.Kids[0].Kind == syntax.Name && l.isWord(n.Kids[1]) {
			names[n.Kids[0].Name] = true
		}
		if n.Kind == syntax.Assign && n.Kids[0].Kind == syntax.Array && l.isSplit(n.Kids[1]) && len(n.Kids[0].Kids) > 0 && n.Kids[0].Kids[0] != nil {
			names[n.Kids[0].Kids[0].Name] = true
		}
		return false
	})
	isWord := func(n *syntax.Node) bool { return l.isWord(n) || n.Kind == syntax.Name && names[n.Name] }
	return body.Any(func(n *syntax.Node) bool {
		switch n.Kind {
		case syntax.Binary:
			return (n.Name == "===" || n.Name == "==") && (isWord(n.Kids[0]) && n.Kids[1].Kind == syntax.String || isWord(n.Kids[1]) && n.Kids[0].Kind == syntax.String)
		case syntax.Dot:
			return n.Name == "startsWith" && isWord(n.Kids[0]) || n.Name == "match" && isWord(n.Kids[0])
		case syntax.Switch:
			return isWord(n.Kids[0])
		}
		return false
	})
}

// walk evaluates statements outside of any option.
func (l *wordLoop) walk(n *syntax.Node, s *js.Scope) bool {
	if n.Kind == syntax.Block {
		inner := js.NewScope(s, l.unsure)
		for _, kid := range n.Kids {
			if !l.walk(kid, inner) {
				return false
			}
		}
		return true
	}
	switch n.Kind {
	case syntax.Variable:
		return l.declare(n, s)
	case syntax.If:
		return l.branches(n, s)
	case syntax.Switch:
		if l.isWord(n.Kids[0]) || n.Kids[0].Kind == syntax.Name && l.bare[n.Kids[0].Name] {
			return l.cases(n, s)
		}
	}
	return l.positional(n, s)
}

// declare reads the variables of a round.
func (l *wordLoop) declare(n *syntax.Node, s *js.Scope) bool {
	for _, v := range n.Kids {
		if v == l.first {
			continue
		}
		if v.Kind != syntax.Assign {
			l.bind(v, js.Undefined{}, s, true)
			continue
		}
		target, from := v.Kids[0], v.Kids[1]
		switch {
		case target.Kind == syntax.Name && l.isWord(from):
			l.names[target.Name] = true
		case target.Kind == syntax.Name && l.isNext(from):
			l.nexts[target.Name] = true
		case target.Kind == syntax.Array && l.isSplit(from) && len(target.Kids) <= 2:
			for i, kid := range target.Kids {
				if kid != nil && kid.Kind == syntax.Name {
					if l.names[kid.Name] = i == 0; i == 1 {
						l.values[kid.Name] = true
					}
				}
			}
		case from.Any(l.isWord) || from.Any(l.isNext):
			return false
		default:
			l.bind(target, l.eval(from, s), s, true)
		}
	}
	return true
}

// isSplit reports whether an expression splits the word at "=".
func (l *wordLoop) isSplit(n *syntax.Node) bool {
	return n.Kind == syntax.Call && n.Kids[0].Kind == syntax.Dot && n.Kids[0].Name == "split" && l.isWord(n.Kids[0].Kids[0]) && len(n.Kids) > 1 && n.Kids[1].Kind == syntax.String && n.Kids[1].Name == "="
}

// branches reads a chain of if … else.
func (l *wordLoop) branches(n *syntax.Node, s *js.Scope) bool {
	p := l.wordTest(n.Kids[0], s, l.isWord)
	yes, no := n.Kids[1], n.Kids[2]
	switch {
	case len(p.equals) > 0:
		l.option(p.equals, yes, s, p.prefix != "" || len(l.values) > 0 && l.usesValue(yes))
	case strings.HasSuffix(p.prefix, "=") && len(p.prefix) > 2:
		l.option([]string{strings.TrimSuffix(p.prefix, "=")}, yes, s, true)
	case p.prefix == "-" || p.prefix == "--" || p.notDash:
		if !l.walk(yes, s) {
			return false
		}
	case n.Kids[0].Any(l.isWord) && !l.rejects(yes):
		return false
	default:
		if !l.walk(yes, s) {
			return false
		}
	}
	return no == nil || l.walk(no, s)
}

// rejects reports whether a branch only complains.
func (l *wordLoop) rejects(n *syntax.Node) bool {
	return n.Any(func(n *syntax.Node) bool {
		return n.Kind == syntax.Throw || n.Kind == syntax.Call && (n.Kids[0].Dotted() == "process.exit" || n.Kids[0].Dotted() == "Deno.exit")
	})
}

func (l *wordLoop) usesValue(n *syntax.Node) bool {
	return n.Any(func(n *syntax.Node) bool { return n.Kind == syntax.Name && l.values[n.Name] })
}

// cases reads a switch over the word.
func (l *wordLoop) cases(n *syntax.Node, s *js.Scope) bool {
	var labels []string
	inner := js.NewScope(s, l.unsure)
	for _, c := range n.Kids[1:] {
		if c.Kids[0] == nil {
			if !l.walk(&syntax.Node{Kind: syntax.Block, Kids: c.Kids[1:], Line: c.Line}, inner) {
				return false
			}
			continue
		}
		text, ok := l.eval(c.Kids[0], s).(string)
		if !ok {
			return false
		}
		if l.bare[n.Kids[0].Name] {
			text = "--" + text
		}
		if labels = append(labels, text); len(c.Kids) > 1 {
			body := &syntax.Node{Kind: syntax.Block, Kids: c.Kids[1:], Line: c.Line}
			l.option(labels, body, inner, l.usesValue(body))
			labels = nil
		}
	}
	return true
}

// option reads the branch of an option.
func (l *wordLoop) option(flags []string, body *syntax.Node, s *js.Scope, joined bool) {
	if slices.ContainsFunc(flags, js.IsHelp) {
		return
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(flag string) bool { return flag == "--" })
	if len(flags) == 0 {
		return
	}
	if !strings.HasPrefix(flags[0], "-") {
		l.Doubt(body.Line, "%q is read among the arguments", flags[0])
		return
	}
	o := l.list.List.Option(flags, body.Line)
	l.options++
	value := func(n *syntax.Node) (js.Value, bool) {
		if l.isNext(n) || n.Kind == syntax.Name && l.values[n.Name] {
			return js.Given{Argument: o}, true
		}
		if joined && l.isWord(n) {
			return js.JoinedWord{Option: o}, true
		}
		return nil, false
	}
	switch {
	case body.Any(l.isNext) && o.Kind == cli.Switch:
		o.TakesValue(cli.Apart)
	case joined:
		o.TakesValue(cli.Joined)
		o.Form = cli.Joined
	default:
		l.switches(o, body, s)
	}
	l.with(body, value, func() {
		if l.block(body, s) == exits && o.Kind == cli.Switch {
			o.Touched = true
		}
	})
}

// switches notes the default of an option without a value.
func (l *wordLoop) switches(o *js.Argument, body *syntax.Node, s *js.Scope) {
	body.Any(func(n *syntax.Node) bool {
		if n.Kind != syntax.Assign || n.Name != "=" || n.Kids[0].Kind == syntax.Array || n.Kids[0].Kind == syntax.Object {
			return false
		}
		now, ok := l.eval(n.Kids[1], s).(bool)
		before, also := l.eval(n.Kids[0], s).(bool)
		if ok && also && now && !before {
			o.Default = false
		}
		return false
	})
}

// positional reads a statement for the words that are no options.
func (l *wordLoop) positional(n *syntax.Node, s *js.Scope) bool {
	if dynamic := n.Any(func(n *syntax.Node) bool {
		return (n.Kind == syntax.Index) && n.Kids[1].Any(func(n *syntax.Node) bool { return l.isWord(n) || n.Kind == syntax.Name && l.bare[n.Name] })
	}); dynamic {
		return false
	}
	if n.Any(l.isNext) && !l.shifts {
		return false
	}
	word := js.LoopWord{List: l.list.List}
	l.with(n, func(n *syntax.Node) (js.Value, bool) { return word, l.isWord(n) }, func() { l.statement(n, s) })
	return true
}

// plural returns the name of a list of what a name means.
func plural(name string) string {
	if strings.HasSuffix(name, "s") {
		return name
	}
	return name + "s"
}
