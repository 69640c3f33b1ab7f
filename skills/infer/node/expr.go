package node

import (
	"math"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/library"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// expressions evaluate the expressions of a program.
type expressions struct {
	*state
	caller caller
}

// A caller evaluates the calls, classes and assignments in expressions.
type caller interface {
	callNode(n *syntax.Node, s *js.Scope) js.Value
	class(c *syntax.Class, s *js.Scope) js.Value
	assign(target *syntax.Node, v js.Value, s *js.Scope)
}

// A foreign value is one of a library that reads command lines.
type foreign interface {
	Member(h *library.Host, name string, line int32) js.Value
	Method(h *library.Host, name string, args []js.Value, line int32) js.Value
}

// eval returns the value of an expression.
func (e *expressions) eval(n *syntax.Node, s *js.Scope) js.Value {
	if n == nil || !e.charge() {
		return js.Unknown{}
	}
	switch n.Kind {
	case syntax.String, syntax.Number, syntax.Regexp, syntax.Meta:
		return constant(n)
	case syntax.Name:
		return e.lookup(n.Name, s)
	case syntax.This:
		if s.This != nil && n.Name == "this" {
			return s.This
		}
		return js.Unknown{}
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
		return e.caller.class(n.Class, s)
	case syntax.Call, syntax.New:
		return e.caller.callNode(n, s)
	case syntax.Dot:
		return e.member(n.Line, e.eval(n.Kids[0], s), n.Name, n.Optional)
	case syntax.Index:
		return e.index(n, s)
	case syntax.Unary:
		return e.unary(n, s)
	case syntax.Update:
		e.eval(n.Kids[0], s)
		e.caller.assign(n.Kids[0], js.Unknown{}, s)
		return js.Unknown{}
	case syntax.Binary:
		return e.binary(n, s)
	case syntax.Assign:
		return e.assignment(n, s)
	case syntax.Condition:
		return e.condition(n, s)
	case syntax.Spread:
		return e.eval(n.Kids[0], s)
	case syntax.Sequence:
		return e.sequence(n, s)
	case syntax.Tagged:
		e.use(e.eval(n.Kids[1], s))
	}
	return js.Unknown{}
}

// constant returns the value of a literal.
func constant(n *syntax.Node) js.Value {
	switch n.Kind {
	case syntax.Number:
		return js.ParseNumber(n.Name)
	case syntax.Regexp:
		return js.Regexp(n.Name)
	case syntax.Meta:
		return js.Reference("import.meta")
	}
	return n.Name
}

func (e *expressions) sequence(n *syntax.Node, s *js.Scope) (last js.Value) {
	for _, kid := range n.Kids {
		last = e.eval(kid, s)
	}
	return last
}

func (e *expressions) lookup(name string, s *js.Scope) js.Value {
	switch name {
	case "undefined":
		return js.Undefined{}
	case "null":
		return js.Null{}
	case "true":
		return true
	case "false":
		return false
	case "NaN":
		return js.Unknown{}
	case "Infinity":
		return math.Inf(1)
	}
	if found := s.Find(name); found != nil {
		return found.Vars[name]
	}
	return e.resolve(js.Reference(name))
}

// resolve returns the value of a name outside of the source.
func (e *expressions) resolve(name js.Reference) js.Value {
	switch name {
	case "process.argv", "Bun.argv":
		return js.Words{List: e.Argv, From: -2}
	case "Deno.args":
		return js.Words{List: e.Argv, From: 0}
	case "globalThis", "global":
		return js.Reference("")
	case "process.env":
		return js.Unknown{}
	}
	return name
}

func (e *expressions) template(n *syntax.Node, s *js.Scope) js.Value {
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
		if b.Len() > maxText {
			return js.Unknown{}
		}
	}
	if !known {
		return js.Unknown{}
	}
	return b.String()
}

// items evaluates the elements of an array, or the arguments of a call.
func (e *expressions) items(kids []*syntax.Node, s *js.Scope) (items []js.Value, open bool) {
	for _, kid := range kids {
		switch {
		case kid == nil:
			items = append(items, js.Undefined{})
		case kid.Kind == syntax.Spread:
			spread := e.eval(kid.Kids[0], s)
			if w, ok := spread.(js.Words); ok {
				items, open = append(items, e.spread(w, kid.Line)), true
			} else if list, ok := spread.(*js.Array); ok {
				items, open = append(items, list.Items...), open || list.Open
			} else {
				open = true
			}
		default:
			items = append(items, e.eval(kid, s))
		}
		if len(items) > maxItems {
			return items[:maxItems], true
		}
	}
	return items, open
}

func (e *expressions) object(n *syntax.Node, s *js.Scope) js.Value {
	o := js.NewObject(e.unsure)
	for _, kid := range n.Kids {
		if kid.Kind == syntax.Spread {
			other, ok := e.eval(kid.Kids[0], s).(*js.Object)
			if !ok {
				o.Open = true
				continue
			}
			for _, key := range other.Keys {
				o.Set(key, other.Values[key])
			}
			o.Open = o.Open || other.Open
			continue
		}
		key, ok := kid.Name, true
		if len(kid.Kids) > 1 {
			key, ok = js.ToText(e.eval(kid.Kids[1], s))
		}
		v := e.eval(kid.Kids[0], s)
		if ok {
			o.Set(key, v)
		} else {
			o.Open = true
		}
	}
	return o
}

// member returns a member of a value.
func (e *expressions) member(line int32, v js.Value, name string, optional bool) js.Value {
	switch v := v.(type) {
	case js.Reference:
		return e.libraryMember(line, v, name)
	case *js.Object:
		if got, ok := v.Get(name); ok {
			return got
		}
		if v.Class != nil {
			if m := v.Class.Method(name); m != nil {
				return e.bound(m.Value.Function, v.Class.Scope, v)
			}
		}
		if v.Open {
			return js.Unknown{}
		}
		return js.Method{Receiver: v, Name: name}
	case *js.Class:
		if got, ok := v.Static.Get(name); ok {
			return got
		}
		return js.Unknown{}
	case js.Words:
		if name == "length" {
			return js.Length{Words: v}
		}
		return js.Method{Receiver: v, Name: name}
	case js.Given:
		if !optional {
			e.use(v)
		}
		return js.Method{Receiver: v, Name: name}
	case *js.Options:
		return v.Member(name)
	case foreign:
		return v.Member(e.libraries.Host, name, line)
	case *js.Array:
		if name == "length" && !v.Open {
			return float64(len(v.Items))
		}
		return js.Method{Receiver: v, Name: name}
	case string:
		if name == "length" {
			return float64(len(v))
		}
		return js.Method{Receiver: v, Name: name}
	case js.Unknown, js.Never, js.Undefined, js.Null:
		return js.Unknown{}
	}
	return js.Method{Receiver: v, Name: name}
}

// libraryMember returns a member of something outside of the source.
func (e *expressions) libraryMember(line int32, r js.Reference, name string) js.Value {
	switch {
	case r == "":
		return e.resolve(js.Reference(name))
	case name == "default":
		return r
	}
	full := r + "." + js.Reference(name)
	if v, ok := e.libraries.Member(full, line); ok {
		return v
	}
	switch full {
	case "import.meta.main":
		return true
	case "module.parent", "require.parent":
		return js.Null{}
	case "zx.argv":
		return js.Unknown{}
	}
	if v := e.resolve(full); v != js.Value(full) {
		return v
	}
	return full
}

func (e *expressions) index(n *syntax.Node, s *js.Scope) js.Value {
	v, at := e.eval(n.Kids[0], s), e.eval(n.Kids[1], s)
	if w, ok := v.(js.Words); ok {
		return e.wordAt(w, at, n.Line)
	}
	switch v := v.(type) {
	case *js.Array:
		if i, ok := at.(float64); ok && i >= 0 && int(i) < len(v.Items) {
			return v.Items[int(i)]
		}
	case *js.Object, js.Reference, *js.Options:
		if key, ok := js.ToText(at); ok {
			return e.member(n.Line, v, key, n.Optional)
		}
	case js.Given:
		e.use(v)
		return js.Given{Argument: v.Argument, Derived: true}
	}
	return js.Unknown{}
}

func (e *expressions) unary(n *syntax.Node, s *js.Scope) js.Value {
	if n.Name == "!" {
		v := e.test(n.Kids[0], s)
		if is, known := js.Truth(v); known {
			return !is
		}
		return js.Unknown{}
	}
	v := e.eval(n.Kids[0], s)
	switch f, isNumber := v.(float64); {
	case n.Name == "-" && isNumber:
		return -f
	case n.Name == "+":
		if g, ok := v.(js.Given); ok {
			g.Argument.SetType("number")
		}
		return v
	case n.Name == "typeof":
		if _, ok := v.(string); ok {
			return "string"
		}
	case n.Name == "void":
		return js.Undefined{}
	}
	return js.Unknown{}
}

// condition evaluates both branches of an unknown condition.
func (e *expressions) condition(n *syntax.Node, s *js.Scope) js.Value {
	if is, known := js.Truth(e.test(n.Kids[0], s)); known {
		if is {
			return e.eval(n.Kids[1], s)
		}
		return e.eval(n.Kids[2], s)
	}
	e.unsure++
	defer func() { e.unsure-- }()
	return e.join(e.eval(n.Kids[1], s), e.eval(n.Kids[2], s))
}

// binary evaluates an operator with two operands.
func (e *expressions) binary(n *syntax.Node, s *js.Scope) js.Value {
	switch n.Name {
	case "||", "??", "&&":
		return e.logical(n.Name, n.Kids[0], n.Kids[1], s)
	case "==", "===", "!=", "!==":
		is, known := e.equal(e.eval(n.Kids[0], s), e.eval(n.Kids[1], s))
		if !known {
			return js.Unknown{}
		}
		return is == (n.Name[0] == '=')
	}
	left, right := e.eval(n.Kids[0], s), e.eval(n.Kids[1], s)
	if at, ok := left.(js.Position); ok && n.Name == "+" {
		if right == 1.0 {
			return js.Position{Option: at.Option, By: at.By + 1}
		}
	}
	if n.Name == "<" || n.Name == ">" || n.Name == "<=" || n.Name == ">=" {
		e.tested(left)
		e.tested(right)
		return compare(n.Name, left, right)
	}
	e.use(left)
	e.use(right)
	if n.Name == "+" && (js.IsString(left) || js.IsString(right)) {
		return joinTexts(left, right)
	}
	x, ok := left.(float64)
	y, also := right.(float64)
	if !ok || !also {
		return js.Unknown{}
	}
	switch n.Name {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		if y != 0 {
			return x / y
		}
	}
	return js.Unknown{}
}

// joinTexts returns the text of two constants, one behind the other.
func joinTexts(left, right js.Value) js.Value {
	a, ok := js.ToText(left)
	b, also := js.ToText(right)
	if !ok || !also || len(a)+len(b) > maxText {
		return js.Unknown{}
	}
	return a + b
}

func compare(operator string, left, right js.Value) js.Value {
	x, ok := left.(float64)
	y, also := right.(float64)
	if !ok || !also {
		return js.Unknown{}
	}
	switch operator {
	case "<":
		return x < y
	case ">":
		return x > y
	case "<=":
		return x <= y
	}
	return x >= y
}

// logical evaluates an operator that may not evaluate its right operand.
func (e *expressions) logical(operator string, l, r *syntax.Node, s *js.Scope) js.Value {
	left := e.test(l, s)
	is, known := js.Truth(left)
	if operator == "??" && known {
		is = !js.IsNone(left)
	}
	if known {
		if is == (operator == "&&") {
			return e.eval(r, s)
		}
		return left
	}
	e.unsure++
	right := e.eval(r, s)
	e.unsure--
	if right == (js.Never{}) { // x || usage()
		if g, ok := left.(js.Given); ok && operator != "&&" {
			g.Argument.Demand()
		}
		return left
	}
	if operator == "&&" {
		if g, ok := left.(js.Given); ok {
			if other, ok := right.(js.Given); !ok || other.Argument != g.Argument {
				return js.Unknown{}
			}
		}
		return right
	}
	return e.join(left, right)
}

// test evaluates a condition. A value that is only tested is not used.
func (e *expressions) test(n *syntax.Node, s *js.Scope) js.Value {
	v := e.eval(n, s)
	e.tested(v)
	return v
}

// assignment evaluates an assignment, with an operator or without.
func (e *expressions) assignment(n *syntax.Node, s *js.Scope) js.Value {
	target, right := n.Kids[0], n.Kids[1]
	var v js.Value
	switch n.Name {
	case "=":
		v = e.eval(right, s)
	case "||=", "??=", "&&=":
		v = e.logical(strings.TrimSuffix(n.Name, "="), target, right, s)
	case "+=":
		v = e.binary(&syntax.Node{Kind: syntax.Binary, Name: "+", Line: n.Line, Kids: n.Kids}, s)
	default:
		e.use(e.eval(right, s))
		v = js.Unknown{}
	}
	e.caller.assign(target, v, s)
	return v
}
