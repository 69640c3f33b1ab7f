package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// A binder assigns to variables, members and patterns.
type binder struct{ *expressions }

// assign sets a variable, a member, or all of a pattern.
func (e *binder) assign(target *syntax.Node, v js.Value, s *js.Scope) {
	switch target.Kind {
	case syntax.Name:
		e.nameValue(target.Name, v, target.Line)
		found := s.Find(target.Name)
		if found == nil {
			e.globals.Vars[target.Name] = v
			return
		}
		if found.Level < e.unsure {
			v = e.join(found.Vars[target.Name], v)
		}
		found.Vars[target.Name] = v
	case syntax.Dot, syntax.Index:
		e.setMember(target, v, s)
	default:
		e.bind(target, v, s, false)
	}
}

func (e *binder) setMember(target *syntax.Node, v js.Value, s *js.Scope) {
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
		e.nameValue(name, v, target.Line)
		if base.Level < e.unsure {
			old, had := base.Get(name)
			if !had {
				old = js.Undefined{}
			}
			v = e.join(old, v)
		}
		base.Set(name, v)
	case js.Words:
		e.Doubt(target.Line, "the command line is changed")
	case *js.Options:
		if ok {
			e.use(v)
		}
	case js.Reference:
		if base == "process" && name == "argv" {
			e.Doubt(target.Line, "the command line is changed")
		}
	}
}

// bind declares the variables of a pattern, or assigns to them.
func (e *binder) bind(pattern *syntax.Node, v js.Value, s *js.Scope, declare bool) {
	switch pattern.Kind {
	case syntax.Name:
		if !declare {
			e.assign(pattern, v, s)
			return
		}
		e.nameValue(pattern.Name, v, pattern.Line)
		s.Vars[pattern.Name] = v
	case syntax.Assign:
		if js.IsNone(v) && v == (js.Undefined{}) {
			v = e.eval(pattern.Kids[1], s)
		} else if _, isGiven := v.(js.Given); isGiven || js.IsUnknown(v) {
			e.unsure++
			standard := e.eval(pattern.Kids[1], s)
			e.unsure--
			e.bindName(pattern.Kids[0], v)
			v = e.join(v, standard)
		}
		e.bind(pattern.Kids[0], v, s, declare)
	case syntax.Array:
		e.bindArray(pattern, v, s, declare)
	case syntax.Object:
		e.bindObject(pattern, v, s, declare)
	case syntax.Dot, syntax.Index:
		e.setMember(pattern, v, s)
	}
}

// bindName names an argument by its variable before its default is known.
func (e *binder) bindName(target *syntax.Node, v js.Value) {
	if target.Kind == syntax.Name {
		e.nameValue(target.Name, v, target.Line)
	}
}

func (e *binder) bindArray(pattern *syntax.Node, v js.Value, s *js.Scope, declare bool) {
	w, isWords := e.elements(v, pattern.Line)
	list, isList := v.(*js.Array)
	for i, kid := range pattern.Kids {
		if kid == nil {
			continue
		}
		var item js.Value = js.Unknown{}
		rest := kid.Kind == syntax.Spread
		switch {
		case isWords && rest:
			item = js.Words{List: w.List, From: w.From + i}
		case isWords:
			item = e.wordAt(w, float64(i), kid.Line)
		case !isList:
		case rest:
			item = &js.Array{Items: append([]js.Value(nil), list.Items[min(i, len(list.Items)):]...), Open: list.Open}
		case i < len(list.Items):
			item = list.Items[i]
		case !list.Open:
			item = js.Undefined{}
		}
		if rest {
			kid = kid.Kids[0]
		}
		e.bind(kid, item, s, declare)
	}
}

// elements returns the words of a list that is bound to a pattern: also of one that was
// made of all words on the same line, which are not read together then.
func (e *binder) elements(v js.Value, line int32) (js.Words, bool) {
	g, ok := v.(js.Given)
	if l := e.Argv; ok && l.Rest != nil && g.Argument == l.Rest && g.Derived && !l.Rest.Named && l.Rest.Line == line {
		l.Rest = nil
		return js.Words{List: l, From: l.RestFrom - l.Shifted}, true
	}
	w, ok := v.(js.Words)
	return w, ok
}

func (e *binder) bindObject(pattern *syntax.Node, v js.Value, s *js.Scope, declare bool) {
	for _, kid := range pattern.Kids {
		if kid.Kind == syntax.Spread {
			if o, ok := v.(*js.Options); ok {
				e.bind(kid.Kids[0], o, s, declare)
				continue
			}
			e.bind(kid.Kids[0], js.Unknown{}, s, declare)
			continue
		}
		var item js.Value = js.Unknown{}
		if len(kid.Kids) == 1 && len(kid.Kids) > 0 && v != nil {
			item = e.member(kid.Line, v, kid.Name, true)
			if m, ok := item.(js.Method); ok {
				if _, plain := m.Receiver.(*js.Object); plain {
					item = js.Undefined{}
				}
			}
		}
		e.bind(kid.Kids[0], item, s, declare)
	}
}

func (e *binder) parameters(fn *syntax.Function, args []js.Value, open bool, s *js.Scope) {
	for i, p := range fn.Params {
		var v js.Value = js.Undefined{}
		switch {
		case p.Kind == syntax.Spread:
			e.bind(p.Kids[0], &js.Array{Items: append([]js.Value(nil), args[min(i, len(args)):]...), Open: open}, s, true)
			return
		case i < len(args):
			v = args[i]
		case open:
			v = js.Unknown{}
		}
		e.bindParameter(p, v, s)
	}
}

// bindParameter binds a parameter, which names no argument: the caller's variable does.
func (e *binder) bindParameter(p *syntax.Node, v js.Value, s *js.Scope) {
	if g, ok := v.(js.Given); ok && g.Argument != nil && !g.Named {
		g.Named = true
		defer func() { g.Named = false }()
	}
	e.bind(p, v, s, true)
}
