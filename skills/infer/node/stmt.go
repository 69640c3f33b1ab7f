package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// A completion is the way in which a statement ends.
type completion uint8

const (
	normal  completion = iota
	jumps              // break or continue
	returns            // from the function
	exits              // the program ends, or an error is thrown
)

// A frame is a scope in which statements are evaluated.
type frame struct {
	e *evaluator
	s *js.Scope
}

// follow evaluates statements.
func (f frame) follow(body []*syntax.Node) completion {
	for _, n := range body {
		if n.Kind == syntax.FunctionDeclaration { // known before its place
			f.s.Vars[n.Function.Name] = f.e.closure(n.Function, f.s)
		}
	}
	for _, n := range body {
		if done := f.statement(n); done != normal {
			return done
		}
	}
	return normal
}

// block evaluates a statement in a scope of its own.
func (f frame) block(n *syntax.Node) completion {
	if n == nil {
		return normal
	}
	body := []*syntax.Node{n}
	if n.Kind == syntax.Block {
		body = n.Kids
	}
	return f.inner().follow(body)
}

// inner returns a new scope inside of the frame's.
func (f frame) inner() frame { return frame{f.e, js.NewScope(f.s, f.e.unsure)} }

// maybe evaluates a statement that may not be reached.
func (f frame) maybe(n *syntax.Node) completion {
	f.e.unsure++
	defer func() { f.e.unsure-- }()
	return f.block(n)
}

func (f frame) statement(n *syntax.Node) completion {
	if !f.e.charge() {
		return normal
	}
	switch n.Kind {
	case syntax.Variable:
		return f.variables(n)
	case syntax.Expression:
		if f.e.eval(n.Kids[0], f.s) == (js.Never{}) {
			return exits
		}
	case syntax.Block:
		return f.block(n)
	case syntax.If:
		return f.branch(n)
	case syntax.Switch:
		return f.choice(n)
	case syntax.For, syntax.ForOf, syntax.ForIn, syntax.While, syntax.Do:
		f.loop(n)
	case syntax.Return:
		var v js.Value = js.Undefined{}
		if n.Kids[0] != nil {
			v = f.e.eval(n.Kids[0], f.s)
		}
		f.e.returns = append(f.e.returns, v)
		f.e.end.mayReturn = f.e.end.mayReturn || f.e.unsure > 0
		if v == (js.Never{}) {
			return exits
		}
		return returns
	case syntax.Throw:
		f.e.unsure++
		f.e.eval(n.Kids[0], f.s)
		f.e.unsure--
		f.e.end.fail(f.e.unsure + f.e.end.trying)
		return exits
	case syntax.Break, syntax.Continue:
		return jumps
	case syntax.Try:
		return f.try(n)
	case syntax.ClassDeclaration, syntax.Empty:
		if n.Function != nil {
			f.e.closure(n.Function, f.s)
			f.s.Vars[n.Name] = js.Unknown{}
		}
	case syntax.Import, syntax.Export:
		for _, kid := range n.Kids {
			f.e.eval(kid, f.s)
		}
		if n.Name != "" {
			f.imports(n)
		}
	}
	return normal
}

// imports declares the names of an import statement.
func (f frame) imports(n *syntax.Node) {
	module := f.e.module(n.Name, n.Line)
	for _, b := range n.Imports {
		switch {
		case b.Local == "":
		case b.Name == "*" || b.Name == "default":
			f.s.Vars[b.Local] = module
		default:
			f.s.Vars[b.Local] = f.e.member(n.Line, module, b.Name, true)
		}
	}
}

func (f frame) variables(n *syntax.Node) completion {
	for _, v := range n.Kids {
		var got js.Value = js.Undefined{}
		if v.Kind == syntax.Assign {
			got, v = f.e.eval(v.Kids[1], f.s), v.Kids[0]
		}
		if got == (js.Never{}) {
			return exits
		}
		binding{f.e, f.s, true}.bind(v, got)
	}
	return normal
}

func (f frame) try(n *syntax.Node) completion {
	f.e.end.trying++
	done := f.block(n.Kids[0])
	f.e.end.trying--
	if n.Kids[1] != nil {
		if caught := f.maybe(n.Kids[1]); done == exits && caught != exits {
			done = normal
		}
	}
	if last := f.block(n.Kids[2]); last != normal {
		return last
	}
	return done
}

// branch evaluates an if. Where one branch ends the program, the condition holds
// behind it, or does not.
func (f frame) branch(n *syntax.Node) completion {
	test, yes, no := n.Kids[0], n.Kids[1], n.Kids[2]
	if is, known := js.Truth(f.e.test(test, f.s)); known {
		if is {
			return f.block(yes)
		}
		return f.block(no)
	}
	facts := facts(f)
	if f.comparesText(test) {
		f.e.under++
		defer func() { f.e.under-- }()
	}
	first := f.maybe(yes)
	if first == returns {
		facts.spare(test)
	}
	var second completion
	if first == exits {
		facts.assume(test, false)
		second = f.block(no)
	} else {
		second = f.maybe(no)
	}
	if no != nil && first != exits && second == exits {
		facts.assume(test, true)
		return first
	}
	switch {
	case no == nil || first == normal || second == normal:
		return normal
	case first == exits:
		return second
	case second == exits:
		return first
	}
	return max(min(first, second), jumps)
}

// comparesText reports whether a condition is that an argument is a text.
func (f frame) comparesText(test *syntax.Node) bool {
	return test.Any(func(n *syntax.Node) bool {
		if n.Kind != syntax.Binary || n.Name != "===" && n.Name != "==" {
			return false
		}
		g, isGiven := f.e.eval(n.Kids[0], f.s).(js.Given)
		_, isText := f.e.eval(n.Kids[1], f.s).(string)
		return isGiven && isText && g.Flag == ""
	})
}

// choice evaluates a switch.
func (f frame) choice(n *syntax.Node) completion {
	subject := f.e.test(n.Kids[0], f.s)
	v, isGiven := subject.(js.Given)
	if from := f.chosen(n, subject); from > 0 {
		return f.fall(n.Kids[from:])
	}
	inner := f.inner()
	var texts []string
	plain, falls, ends := true, false, false
	f.e.unsure++
	f.e.under++
	for _, c := range n.Kids[1:] {
		if c.Kids[0] != nil {
			text, ok := f.e.eval(c.Kids[0], f.s).(string)
			if plain = plain && ok; !js.IsHelp(text) {
				texts = append(texts, text)
			}
			if isGiven && ok {
				v.Compare(text)
			}
		}
		done := inner.follow(c.Kids[1:])
		if c.Kids[0] == nil {
			ends = done == exits
		} else {
			falls = falls || done == normal || done == jumps
		}
	}
	f.e.unsure--
	f.e.under--
	if ends && isGiven && plain && !v.Derived && f.e.unsure == 0 {
		v.Choose(texts)
		v.Demand()
	}
	if ends && !falls && len(n.Kids) > 2 {
		return returns
	}
	return normal
}

// chosen returns the case of a switch that a text leads to, or 0 where none is certain.
func (f frame) chosen(n *syntax.Node, subject js.Value) (at int) {
	if _, ok := subject.(string); !ok {
		return 0
	}
	for i, c := range n.Kids[1:] {
		if c.Kids[0] == nil {
			at = i + 1
			continue
		}
		text, ok := f.e.eval(c.Kids[0], f.s).(string)
		if !ok {
			return 0
		}
		if text == subject {
			return i + 1
		}
	}
	return at
}

// fall evaluates the cases of a switch from the one that is chosen on.
func (f frame) fall(cases []*syntax.Node) completion {
	inner := f.inner()
	for _, c := range cases {
		if done := inner.follow(c.Kids[1:]); done == jumps {
			break
		} else if done != normal {
			return done
		}
	}
	return normal
}

// loop evaluates a loop once.
func (f frame) loop(n *syntax.Node) {
	inner := f.inner()
	body := n.Kids[len(n.Kids)-1]
	if n.Kind == syntax.ForOf || n.Kind == syntax.ForIn {
		var item js.Value = js.Unknown{}
		if w, ok := f.e.eval(n.Kids[1], f.s).(js.Words); ok {
			item = f.eachWord(n, w)
		}
		f.e.unsure++
		binding{f.e, inner.s, n.Kids[0].Kind == syntax.Variable}.bind(variableOf(n), item)
		inner.block(body)
		f.e.unsure--
		return
	}
	if n.Kind == syntax.For && n.Kids[0] != nil && n.Kids[0].Kind == syntax.Variable {
		inner.statement(n.Kids[0])
	}
	forget(n, inner.s)
	for _, kid := range n.Kids {
		if kid != nil && kid.Kind < syntax.Empty {
			f.e.test(kid, inner.s)
		}
	}
	inner.maybe(body)
}

// variableOf returns the pattern of a loop over a collection.
func variableOf(n *syntax.Node) *syntax.Node {
	if n.Kids[0].Kind == syntax.Variable {
		return n.Kids[0].Kids[0]
	}
	return n.Kids[0]
}

// eachWord returns the words that a loop does the same with, as one argument. A loop that
// tells options apart is not understood.
func (f frame) eachWord(n *syntax.Node, w js.Words) js.Value {
	variable, list := variableOf(n), n.Kids[1]
	if variable.Kind != syntax.Name || tellsOptions(n.Kids[2], variable.Name) {
		return f.e.found.Doubt(n.Line, "the arguments are read in a loop")
	}
	name := strings.TrimSuffix(variable.Name, "s") + "s"
	if list.Kind == syntax.Name && list.Name != "args" && list.Name != "argv" {
		name = list.Name
	}
	rest := f.e.found.Rest(w, n.Line)
	if g, ok := rest.(js.Given); ok {
		if !g.Named {
			g.Name, g.Named = name, true
		}
		g.Used = true
	}
	return rest
}

// forget makes the variables unknown that a loop assigns to.
func forget(n *syntax.Node, s *js.Scope) {
	n.Any(func(n *syntax.Node) bool {
		if (n.Kind == syntax.Assign || n.Kind == syntax.Update) && n.Kids[0].Kind == syntax.Name {
			if found := s.Find(n.Kids[0].Name); found != nil && js.IsConstant(found.Vars[n.Kids[0].Name]) {
				found.Vars[n.Kids[0].Name] = js.Unknown{}
			}
		}
		return false
	})
}
