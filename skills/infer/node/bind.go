package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// assign sets a variable, a member, or all of a pattern.
func (e *evaluator) assign(target *syntax.Node, v js.Value, s *js.Scope) {
	switch target.Kind {
	case syntax.Name:
		nameValue(target.Name, v, target.Line)
		found := s.Find(target.Name)
		if found == nil {
			found = e.globals
		} else if found.Level < e.unsure {
			v = join(found.Vars[target.Name], v)
		}
		found.Vars[target.Name] = v
	case syntax.Dot, syntax.Index:
		e.setMember(target, v, s)
	default:
		binding{e, s, false}.bind(target, v)
	}
}

func (e *evaluator) setMember(target *syntax.Node, v js.Value, s *js.Scope) {
	base := e.eval(target.Kids[0], s)
	name, ok := target.Name, true
	if target.Kind == syntax.Index {
		name, ok = js.ToText(e.eval(target.Kids[1], s))
	}
	switch base := base.(type) {
	case *js.Object:
		if !ok {
			base.Open = true
			return
		}
		nameValue(name, v, target.Line)
		if base.Level < e.unsure {
			var old js.Value = js.Undefined{}
			if value, had := base.Get(name); had {
				old = value
			}
			v = join(old, v)
		}
		base.Set(name, v)
	case *js.Array:
		base.Open = true
	case js.Words:
		e.found.Doubt(target.Line, "the command line is changed")
	case js.Reference:
		if base == "process" && name == "argv" {
			e.found.Doubt(target.Line, "the command line is changed")
		}
	default:
		e.use(v)
	}
}

// A binding sets the variables of patterns in a scope: new ones, or those that there are.
type binding struct {
	e        *evaluator
	s        *js.Scope
	declares bool
}

func (b binding) bind(pattern *syntax.Node, v js.Value) {
	switch pattern.Kind {
	case syntax.Name:
		if !b.declares {
			b.e.assign(pattern, v, b.s)
			return
		}
		nameValue(pattern.Name, v, pattern.Line)
		b.s.Vars[pattern.Name] = v
	case syntax.Assign:
		b.withDefault(pattern, v)
	case syntax.Array:
		b.array(pattern, v)
	case syntax.Object:
		b.object(pattern, v)
	case syntax.Dot, syntax.Index:
		b.e.setMember(pattern, v, b.s)
	}
}

// withDefault binds a pattern that has a default.
func (b binding) withDefault(pattern *syntax.Node, v js.Value) {
	target := pattern.Kids[0]
	if v == (js.Undefined{}) {
		v = b.e.eval(pattern.Kids[1], b.s)
	} else if _, isGiven := v.(js.Given); isGiven || js.IsUnknown(v) {
		b.e.unsure++
		standard := b.e.eval(pattern.Kids[1], b.s)
		b.e.unsure--
		if target.Kind == syntax.Name { // before the default is known
			nameValue(target.Name, v, target.Line)
		}
		v = join(v, standard)
	}
	b.bind(target, v)
}

func (b binding) array(pattern *syntax.Node, v js.Value) {
	for i, kid := range pattern.Kids {
		switch {
		case kid == nil:
		case kid.Kind == syntax.Spread:
			b.bind(kid.Kids[0], itemsFrom(v, i))
		default:
			b.bind(kid, b.item(v, i, kid.Line))
		}
	}
}

// item returns the value at an index of a list.
func (b binding) item(v js.Value, i int, line int32) js.Value {
	switch list := v.(type) {
	case js.Words:
		return b.e.word(list, float64(i), line)
	case *js.Array:
		if i < len(list.Items) {
			return list.Items[i]
		}
		if !list.Open {
			return js.Undefined{}
		}
	case js.Given:
		if list.List {
			return b.e.found.Doubt(line, "the arguments are read in several ways")
		}
	}
	return js.Unknown{}
}

// itemsFrom returns the rest of a list from an index on.
func itemsFrom(v js.Value, i int) js.Value {
	switch list := v.(type) {
	case js.Words:
		return js.Words{List: list.List, From: list.From + i}
	case *js.Array:
		return &js.Array{Items: append([]js.Value(nil), list.Items[min(i, len(list.Items)):]...), Open: list.Open}
	}
	return js.Unknown{}
}

func (b binding) object(pattern *syntax.Node, v js.Value) {
	for _, kid := range pattern.Kids {
		var item js.Value = js.Unknown{}
		if kid.Kind != syntax.Spread && len(kid.Kids) == 1 && v != nil {
			item = b.e.member(kid.Line, v, kid.Name, true)
			if m, ok := item.(js.Method); ok {
				if _, plain := m.Receiver.(*js.Object); plain {
					item = js.Undefined{}
				}
			}
		}
		b.bind(kid.Kids[0], item)
	}
}

func (b binding) parameters(fn *syntax.Function, args []js.Value, open bool) {
	list := &js.Array{Items: args, Open: open}
	for i, p := range fn.Params {
		if p.Kind == syntax.Spread {
			b.bind(p.Kids[0], itemsFrom(list, i))
			return
		}
		b.parameter(p, b.item(list, i, p.Line))
	}
}

// parameter binds a parameter, which names no argument: the caller's variable does.
func (b binding) parameter(p *syntax.Node, v js.Value) {
	if g, ok := v.(js.Given); ok && !g.Named {
		g.Named = true
		defer func() { g.Named = false }()
	}
	b.bind(p, v)
}
