package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// eval returns the value of an expression.
func (e *evaluator) eval(n *syntax.Node, s *js.Scope) js.Value {
	if n == nil || !e.charge() {
		return js.Unknown{}
	}
	switch n.Kind {
	case syntax.String:
		return n.Name
	case syntax.Number:
		return js.ParseNumber(n.Name)
	case syntax.Meta:
		return js.Reference("import.meta")
	case syntax.Name:
		return e.lookup(n.Name, s)
	case syntax.Template:
		return e.template(n, s)
	case syntax.Array:
		items, open := e.items(n.Kids, s)
		return &js.Array{Items: items, Open: open}
	case syntax.Object:
		return e.object(n, s)
	case syntax.FunctionLiteral:
		return e.closure(n.Function, s)
	case syntax.ClassLiteral:
		e.closure(n.Function, s)
	case syntax.Mentions:
		e.mentions(n, s)
	case syntax.Call, syntax.New:
		return e.call(n, s)
	case syntax.Dot:
		return e.member(n.Line, e.eval(n.Kids[0], s), n.Name, n.Optional)
	case syntax.Index:
		return e.index(n, s)
	case syntax.Unary:
		return e.unary(n, s)
	case syntax.Update:
		e.assign(n.Kids[0], js.Unknown{}, s)
	case syntax.Binary:
		return e.binary(n, s)
	case syntax.Assign:
		return e.assignment(n, s)
	case syntax.Condition:
		return e.condition(n, s)
	case syntax.Spread:
		return e.eval(n.Kids[0], s)
	case syntax.Sequence:
		var last js.Value
		for _, kid := range n.Kids {
			last = e.eval(kid, s)
		}
		return last
	case syntax.Tagged:
		e.use(e.eval(n.Kids[1], s))
	}
	return js.Unknown{}
}

// mentions gives the values of names to a part of the source that is not read.
func (e *evaluator) mentions(n *syntax.Node, s *js.Scope) {
	for _, kid := range n.Kids {
		v := e.eval(kid, s)
		if r, ok := v.(js.Reference); ok && (r.Last() == "argv" || r == "Deno" || r == "util.parseArgs") {
			e.found.Doubt(kid.Line, "a class reads the command line")
		}
		e.escapes("a class", v, kid.Line)
	}
}

func (e *evaluator) template(n *syntax.Node, s *js.Scope) js.Value {
	var b strings.Builder
	known := true
	for i, text := range n.Texts {
		b.WriteString(text)
		if i < len(n.Kids) {
			v := e.eval(n.Kids[i], s)
			e.use(v)
			part, ok := js.ToText(v)
			known = known && ok
			b.WriteString(part)
		}
	}
	if !known || b.Len() > maxText {
		return js.Unknown{}
	}
	return b.String()
}

// items evaluates the elements of an array, or the arguments of a call. Open reports that
// there may be others.
func (e *evaluator) items(kids []*syntax.Node, s *js.Scope) (items []js.Value, open bool) {
	for _, kid := range kids {
		if kid == nil {
			items = append(items, js.Undefined{})
			continue
		}
		v := e.eval(kid, s)
		if kid.Kind == syntax.Spread {
			switch spread := v.(type) {
			case js.Words:
				items, open = append(items, e.wordCall(spread, kid.Line).spread()), true
			case *js.Array:
				items, open = append(items, spread.Items...), open || spread.Open
			default:
				open = true
			}
		} else {
			items = append(items, v)
		}
		if len(items) > maxItems {
			return items[:maxItems], true
		}
	}
	return items, open
}

func (e *evaluator) object(n *syntax.Node, s *js.Scope) js.Value {
	o := js.NewObject(e.unsure)
	for _, kid := range n.Kids {
		v := e.eval(kid.Kids[0], s)
		switch other, ok := v.(*js.Object); {
		case kid.Kind == syntax.Spread && ok:
			for _, key := range other.Keys {
				o.Set(key, other.Values[key])
			}
			o.Open = o.Open || other.Open
		case kid.Kind == syntax.Spread:
			o.Open = true
		case len(kid.Kids) == 1:
			o.Set(kid.Name, v)
		default:
			key, known := js.ToText(e.eval(kid.Kids[1], s))
			if o.Open = o.Open || !known; known {
				o.Set(key, v)
			}
		}
	}
	return o
}

// member returns a member of a value.
func (e *evaluator) member(line int32, v js.Value, name string, optional bool) js.Value {
	switch v := v.(type) {
	case js.Reference:
		return e.moduleMember(v, name)
	case *js.Object:
		if got, ok := v.Get(name); ok {
			return got
		}
		if v.Open {
			return js.Unknown{}
		}
	case js.Words:
		if name == "length" {
			return js.Length{Words: v}
		}
	case js.Given:
		if !optional {
			e.use(v)
		}
	case js.Unknown, js.Never, js.Undefined, js.Null:
		return js.Unknown{}
	}
	return js.Method{Receiver: v, Name: name}
}

func (e *evaluator) index(n *syntax.Node, s *js.Scope) js.Value {
	v, at := e.eval(n.Kids[0], s), e.eval(n.Kids[1], s)
	switch v := v.(type) {
	case js.Words:
		return e.wordCall(v, n.Line).word(at)
	case *js.Array:
		if i, ok := at.(float64); ok && i >= 0 && int(i) < len(v.Items) {
			return v.Items[int(i)]
		}
	case *js.Object:
		if g, ok := at.(js.Given); ok {
			g.Compare(v.Keys...)
		}
		if key, ok := js.ToText(at); ok {
			if got, known := js.Entry(v, key); known && (key == e.found.Argv.First || got != js.Undefined{}) {
				return got
			}
			return e.member(n.Line, v, key, n.Optional)
		}
	case js.Reference:
		if key, ok := js.ToText(at); ok {
			return e.member(n.Line, v, key, n.Optional)
		}
	case js.Given:
		e.use(v)
		return js.Given{Argument: v.Argument, Derived: true}
	}
	return js.Unknown{}
}

func (e *evaluator) unary(n *syntax.Node, s *js.Scope) js.Value {
	v := e.eval(n.Kids[0], s)
	f, isNumber := v.(float64)
	switch {
	case n.Name == "!":
		tested(v)
		if is, known := js.Truth(v); known {
			return !is
		}
	case n.Name == "-" && isNumber:
		return -f
	case n.Name == "+":
		if g, ok := v.(js.Given); ok {
			g.SetType("number")
		}
		return v
	case n.Name == "void":
		return js.Undefined{}
	}
	return js.Unknown{}
}

// condition evaluates both branches of an unknown condition.
func (e *evaluator) condition(n *syntax.Node, s *js.Scope) js.Value {
	if is, known := js.Truth(e.test(n.Kids[0], s)); known {
		if is {
			return e.eval(n.Kids[1], s)
		}
		return e.eval(n.Kids[2], s)
	}
	e.unsure++
	defer func() { e.unsure-- }()
	return join(e.eval(n.Kids[1], s), e.eval(n.Kids[2], s))
}

// binary evaluates an operator with two operands.
func (e *evaluator) binary(n *syntax.Node, s *js.Scope) js.Value {
	switch n.Name {
	case "||", "??", "&&":
		return e.logical(n.Name, n.Kids[0], n.Kids[1], s)
	}
	left, right := e.eval(n.Kids[0], s), e.eval(n.Kids[1], s)
	switch n.Name {
	case "==", "===", "!=", "!==":
		if is, known := equal(left, right); known {
			return is == (n.Name[0] == '=')
		}
	case "<", ">", "<=", ">=":
		tested(left)
		tested(right)
	case "+":
		e.use(left)
		e.use(right)
		return sum(left, right)
	default:
		e.use(left)
		e.use(right)
	}
	return js.Unknown{}
}

// sum returns the place behind another one, or two texts put together.
func sum(left, right js.Value) js.Value {
	if at, ok := left.(js.Position); ok && right == 1.0 {
		return js.Position{Option: at.Option, By: at.By + 1}
	}
	a, ok := left.(string)
	b, also := right.(string)
	if ok && also && len(a)+len(b) < maxText {
		return a + b
	}
	return js.Unknown{}
}

// logical evaluates an operator that may not evaluate its right operand.
func (e *evaluator) logical(operator string, l, r *syntax.Node, s *js.Scope) js.Value {
	left := e.test(l, s)
	is, known := js.Truth(left)
	if operator == "??" && known {
		is = !js.IsNone(left)
	}
	switch {
	case known && is == (operator == "&&"):
		return e.eval(r, s)
	case known:
		return left
	}
	e.unsure++
	right := e.eval(r, s)
	e.unsure--
	g, isGiven := left.(js.Given)
	switch {
	case right == (js.Never{}): // x || usage()
		if isGiven && operator != "&&" {
			g.Demand()
		}
		return left
	case operator != "&&":
		return join(left, right)
	case isGiven:
		if other, ok := right.(js.Given); !ok || other.Argument != g.Argument {
			return js.Unknown{}
		}
	}
	return right
}

// test evaluates a condition. A value that is only tested is not used.
func (e *evaluator) test(n *syntax.Node, s *js.Scope) js.Value {
	v := e.eval(n, s)
	tested(v)
	return v
}

// assignment evaluates an assignment, with an operator or without.
func (e *evaluator) assignment(n *syntax.Node, s *js.Scope) js.Value {
	target, right := n.Kids[0], n.Kids[1]
	var v js.Value = js.Unknown{}
	switch n.Name {
	case "=":
		v = e.eval(right, s)
	case "||=", "??=", "&&=":
		v = e.logical(strings.TrimSuffix(n.Name, "="), target, right, s)
	case "+=":
		left := e.eval(target, s)
		v = sum(left, e.eval(right, s))
	default:
		e.use(e.eval(right, s))
	}
	e.assign(target, v, s)
	return v
}

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
		return b.e.wordCall(list, line).word(float64(i))
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
