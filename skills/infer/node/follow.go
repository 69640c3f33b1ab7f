package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// A walker evaluates statements.
type walker struct {
	*assumptions
	loops loops
}

// loops evaluate loops over the command line. They report false for another loop.
type loops interface {
	wordLoop(n *syntax.Node, s *js.Scope) bool
}

// follow evaluates statements.
func (e *walker) follow(body []*syntax.Node, s *js.Scope) completion {
	e.hoist(body, s)
	for _, n := range body {
		if done := e.statement(n, s); done != normal {
			return done
		}
	}
	return normal
}

// hoist declares the functions of a block.
func (e *walker) hoist(body []*syntax.Node, s *js.Scope) {
	for _, n := range body {
		if n.Kind == syntax.FunctionDeclaration {
			s.Vars[n.Function.Name] = e.closure(n.Function, s)
		}
	}
}

func (e *walker) block(n *syntax.Node, s *js.Scope) completion {
	if n == nil {
		return normal
	}
	inner := js.NewScope(s, e.unsure)
	if n.Kind == syntax.Block {
		return e.follow(n.Kids, inner)
	}
	return e.follow([]*syntax.Node{n}, inner)
}

// maybe evaluates a statement that may not be reached.
func (e *walker) maybe(n *syntax.Node, s *js.Scope) completion {
	e.unsure++
	defer func() { e.unsure-- }()
	return e.block(n, s)
}

func (e *walker) statement(n *syntax.Node, s *js.Scope) completion {
	if !e.charge() {
		return normal
	}
	switch n.Kind {
	case syntax.Variable:
		return e.variables(n, s)
	case syntax.Expression:
		if e.eval(n.Kids[0], s) == (js.Never{}) {
			return exits
		}
	case syntax.Block:
		return e.block(n, s)
	case syntax.If:
		return e.branch(n, s)
	case syntax.Switch:
		return e.choice(n, s)
	case syntax.For, syntax.ForOf, syntax.ForIn, syntax.While, syntax.Do:
		return e.loop(n, s)
	case syntax.Return:
		var v js.Value = js.Undefined{}
		if n.Kids[0] != nil {
			v = e.eval(n.Kids[0], s)
		}
		e.returns = append(e.returns, v)
		if v == (js.Never{}) {
			return exits
		}
		return returns
	case syntax.Throw:
		e.unsure++
		e.eval(n.Kids[0], s)
		e.unsure--
		return exits
	case syntax.Break, syntax.Continue:
		return jumps
	case syntax.Try:
		return e.try(n, s)
	case syntax.ClassDeclaration:
		s.Vars[n.Class.Name] = e.class(n.Class, s)
	case syntax.Import:
		e.imports(n, s)
	case syntax.Export:
		for _, kid := range n.Kids {
			e.eval(kid, s)
		}
		if n.Name != "" {
			e.imports(n, s)
		}
	}
	return normal
}

func (e *walker) variables(n *syntax.Node, s *js.Scope) completion {
	for _, v := range n.Kids {
		if v.Kind != syntax.Assign {
			e.bind(v, js.Undefined{}, s, true)
			continue
		}
		got := e.eval(v.Kids[1], s)
		if got == (js.Never{}) {
			return exits
		}
		e.bind(v.Kids[0], got, s, true)
	}
	return normal
}

func (e *walker) try(n *syntax.Node, s *js.Scope) completion {
	done := e.block(n.Kids[0], s)
	if n.Kids[1] != nil {
		if caught := e.maybe(n.Kids[1], s); done == exits && caught != exits {
			done = normal
		}
	}
	if last := e.block(n.Kids[2], s); last != normal {
		return last
	}
	return done
}

// branch evaluates an if. Where one branch ends the program, the condition holds
// behind it, or does not.
func (e *walker) branch(n *syntax.Node, s *js.Scope) completion {
	test, yes, no := n.Kids[0], n.Kids[1], n.Kids[2]
	if is, known := js.Truth(e.test(test, s)); known {
		if is {
			return e.block(yes, s)
		}
		return e.block(no, s)
	}
	first := e.maybe(yes, s)
	ends := first == exits || first == returns && e.givesUp(yes)
	var second completion
	if ends {
		e.assume(test, false, s)
		second = e.block(no, s)
	} else {
		second = e.maybe(no, s)
	}
	if no != nil && no.Kind == syntax.If && e.refuses[no] {
		e.refuses[n] = true
		e.chain(n, s)
	} else if no != nil && !ends && (second == exits || second == returns && e.givesUp(no)) {
		e.refuses[n] = true
		e.assume(test, true, s)
		e.chain(n, s)
		return first
	}
	switch {
	case no == nil || first == normal || second == normal:
		return normal
	case ends:
		return second
	case second == exits:
		return first
	}
	return max(min(first, second), jumps)
}

// choice evaluates a switch.
func (e *walker) choice(n *syntax.Node, s *js.Scope) completion {
	subject := e.eval(n.Kids[0], s)
	e.tested(subject)
	v, isGiven := subject.(js.Given)
	inner := js.NewScope(s, e.unsure)
	var texts []string
	plain, others, ends := true, normal, false
	e.unsure++
	for _, c := range n.Kids[1:] {
		if c.Kids[0] != nil {
			text, ok := e.eval(c.Kids[0], s).(string)
			plain = plain && ok
			if !js.IsHelp(text) {
				texts = append(texts, text)
			}
		}
		done := e.follow(c.Kids[1:], inner)
		if c.Kids[0] == nil {
			ends = done == exits || done == returns && e.givesUp(&syntax.Node{Kind: syntax.Block, Kids: c.Kids[1:]})
		} else if done == normal || done == jumps {
			others = jumps
		}
	}
	e.unsure--
	if ends && isGiven && plain && !v.Derived && e.unsure == 0 {
		v.Choose(texts)
		v.Demand()
	}
	if ends && others == normal && len(n.Kids) > 2 {
		return returns
	}
	return normal
}

// loop evaluates a loop: over a known list round by round, else once.
func (e *walker) loop(n *syntax.Node, s *js.Scope) completion {
	if e.loops.wordLoop(n, s) {
		return normal
	}
	inner := js.NewScope(s, e.unsure)
	switch n.Kind {
	case syntax.ForOf:
		if list, ok := e.eval(n.Kids[1], s).(*js.Array); ok && !list.Open && len(list.Items) <= maxUnroll {
			for _, item := range list.Items {
				if done := e.round(n.Kids[0], item, n.Kids[2], inner); done == exits || done == returns {
					return done
				}
			}
			return normal
		}
		e.unsure++
		e.round(n.Kids[0], js.Unknown{}, n.Kids[2], inner)
		e.unsure--
		return normal
	case syntax.ForIn:
		e.use(e.eval(n.Kids[1], s))
		e.unsure++
		e.round(n.Kids[0], js.Unknown{}, n.Kids[2], inner)
		e.unsure--
		return normal
	case syntax.For:
		if n.Kids[0] != nil {
			if n.Kids[0].Kind == syntax.Variable {
				e.statement(n.Kids[0], inner)
			} else {
				e.eval(n.Kids[0], inner)
			}
		}
	}
	e.forget(n, inner)
	for _, kid := range n.Kids {
		if kid != nil && kid.Kind < syntax.Empty {
			e.test(kid, inner)
		}
	}
	e.maybe(n.Kids[len(n.Kids)-1], inner)
	return normal
}

// round evaluates a loop's body once.
func (e *walker) round(variable *syntax.Node, item js.Value, body *syntax.Node, s *js.Scope) completion {
	inner := js.NewScope(s, e.unsure)
	if variable.Kind == syntax.Variable {
		e.bind(variable.Kids[0], item, inner, true)
	} else if variable != nil {
		e.bind(variable, item, inner, false)
	}
	return e.block(body, inner)
}

// forget makes the variables unknown that a loop assigns to.
func (e *walker) forget(n *syntax.Node, s *js.Scope) {
	n.Any(func(n *syntax.Node) bool {
		if (n.Kind == syntax.Assign || n.Kind == syntax.Update) && n.Kids[0].Kind == syntax.Name {
			if found := s.Find(n.Kids[0].Name); found != nil && js.IsConstant(found.Vars[n.Kids[0].Name]) {
				if _, isText := found.Vars[n.Kids[0].Name].(float64); isText {
					found.Vars[n.Kids[0].Name] = js.Unknown{}
				}
			}
		}
		return false
	})
}
