package python

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// An evaluator reads a script's constants, and the calls that declare its command
// line, in the order in which Python would execute them. Of a condition that is
// not known it reads each branch, and takes its declarations for uncertain.
type evaluator struct {
	*reading
	builtins  builtins
	globals   *scope
	functions *functions
	parses    parses
}

// newEvaluator returns one for a source of this size.
func newEvaluator(prog string, m *Module, told *cli.Notes) *evaluator {
	r := &reading{prog: prog, notes: told, words: newWordReader(""), steps: baseSteps + stepsPerByte*len(m.source)}
	return &evaluator{reading: r, builtins: builtins{r}, globals: newScope(nil), functions: &m.functions}
}

func (e *evaluator) assign(s *scope, name string, v value) {
	if s.globals[name] {
		s = e.globals
	}
	e.words.named(v, name)
	if before, ok := s.vars[name]; ok && e.unsure > 0 {
		v = e.words.eitherOf(before, v)
	}
	s.vars[name] = v
}

// value returns the value of an expression. Calls in it that declare arguments change
// their parsers.
func (e *evaluator) value(n *syntax.Node, s *scope) value {
	if n == nil || !e.charge(1) {
		return unknown{}
	}
	switch n.Kind {
	case syntax.Const:
		if n.Value == nil { // of bytes, or a number that is too large
			return unknown{}
		}
		return n.Value
	case syntax.Name:
		return s.lookup(n.Name)
	case syntax.Attribute:
		return e.attribute(e.value(n.Kids[0], s), n.Name, n.Line)
	case syntax.Subscript:
		return e.subscript(n, s)
	case syntax.Call:
		return e.call(n, s)
	case syntax.Tuple, syntax.List, syntax.Set:
		a := e.arguments(n, s)
		if a.spread {
			return unknown{}
		}
		return &sequence{a.positional, map[syntax.Kind]byte{syntax.Tuple: '(', syntax.List: '[', syntax.Set: '{'}[n.Kind]}
	case syntax.Dict:
		return e.dict(n, s)
	case syntax.Unary:
		return negate(n.Name, e.value(n.Kids[0], s))
	case syntax.Binary:
		a, b := e.value(n.Kids[0], s), e.value(n.Kids[1], s)
		return e.operateWords(n, a, b)
	case syntax.Bool:
		return e.boolean(n, s)
	case syntax.Ternary:
		return e.ternary(n, s)
	case syntax.FString:
		return e.format(n, s)
	case syntax.Lambda:
		return &function{Function: n.Value.(*syntax.Function), scope: s}
	case syntax.Walrus:
		v := e.value(n.Kids[0], s)
		e.assign(s, n.Name, v)
		return v
	case syntax.As:
		e.value(n.Kids[0], s)
		e.bind(n.Kids[1], unknown{}, s)
		return unknown{}
	case syntax.Comprehension:
		if v, ok := e.value(n.Kids[2], s).(argvector); ok {
			return e.convertAll(n, v, s)
		}
		e.unsure++
		defer func() { e.unsure-- }()
		s = newScope(s)
		for at := 1; at < len(n.Kids); at += 2 {
			e.bind(n.Kids[at], unknown{}, s)
		}
	}
	for _, kid := range n.Kids {
		e.value(kid, s)
	}
	return unknown{}
}

func (e *evaluator) attribute(object value, name string, line int) value {
	switch o := object.(type) {
	case argvector:
		e.words.fail(line, "it changes the list of its arguments, or searches it")
	case reference:
		return wellKnown(string(o) + "." + name)
	case *class:
		if v, ok := o.members[name]; ok {
			return v
		}
	case string, *sequence, *mapping, *parser, *group, *subparsers, word:
		return method{receiver: o, name: name}
	case unknown, method:
		return method{receiver: unknown{}, name: name}
	}
	return unknown{}
}

func (e *evaluator) subscript(n *syntax.Node, s *scope) value {
	object, index := e.value(n.Kids[0], s), n.Kids[1]
	if index.Kind == syntax.Slice {
		from, ok := e.value(index.Kids[0], s).(int64)
		v, is := object.(argvector)
		if is && ok && index.Kids[1] == nil && index.Kids[2] == nil && from >= 0 {
			return v + argvector(min(from, 1000))
		}
		if is {
			e.words.fail(n.Line, "it reads arguments at places that are computed")
		}
		return unknown{}
	}
	key := e.value(index, s)
	switch o := object.(type) {
	case argvector:
		return e.words.at(key, o, n.Line)
	case reference:
		if isGeneric(o) {
			return &alias{n, s}
		}
	case *sequence:
		if at, ok := key.(int64); ok && o.open != '{' && at >= 0 && at < int64(len(o.items)) {
			return o.items[at]
		}
	case *mapping:
		if v, ok := o.get(key); ok {
			return v
		}
	}
	return unknown{}
}

func (e *evaluator) dict(n *syntax.Node, s *scope) value {
	m := &mapping{}
	certain := true
	for at := 0; at+1 < len(n.Kids); at += 2 {
		v := e.value(n.Kids[at+1], s)
		if n.Kids[at] != nil {
			key := e.value(n.Kids[at], s)
			m.set(key, v)
			certain = certain && !isUnknown(key)
		} else {
			other, ok := v.(*mapping)
			if certain = certain && ok && e.charge(len(other.keys)); certain {
				m.add(other)
			}
		}
		if !certain || len(m.keys) > maxItems {
			certain, m = false, &mapping{}
		}
	}
	if !certain {
		return unknown{}
	}
	return m
}

// format evaluates an f-string.
func (e *evaluator) format(n *syntax.Node, s *scope) value {
	var b strings.Builder
	for _, part := range n.Kids {
		v := e.value(part, s)
		text, ok := pyStr(v)
		e.words.spend(n.Line, v)
		if !ok {
			u, _ := v.(unknown)
			return unknown{prefix: b.String() + u.prefix}
		}
		if b.Len()+len(text) > maxText || !e.charge(len(text)/16) {
			return unknown{}
		}
		b.WriteString(text)
	}
	return b.String()
}

// bind assigns to a target, which may be a tuple, an attribute or an item.
func (e *evaluator) bind(target *syntax.Node, v value, s *scope) {
	switch target.Kind {
	case syntax.Name:
		e.assign(s, target.Name, v)
	case syntax.Tuple, syntax.List:
		items, ok := iterable(v)
		if argv, is := v.(argvector); is {
			items, ok = e.words.unpack(argv, target), true
		}
		for at, kid := range target.Kids {
			if ok && len(items) == len(target.Kids) && (kid.Kind != syntax.Star || isOfWords(items[at])) {
				e.bind(kid, items[at], s)
			} else {
				e.bind(kid, unknown{}, s)
			}
		}
	case syntax.Star:
		e.bind(target.Kids[0], v, s)
	case syntax.Attribute:
		e.words.setAttribute(e.value(target, s), target, v)
		setAttribute(e.reading, e.value(target.Kids[0], s), target.Name, v, target.Line)
	case syntax.Subscript:
		object := e.value(target.Kids[0], s)
		e.words.spend(target.Line, object, v)
		m, ok := object.(*mapping)
		if ok && e.unsure == 0 && len(m.keys) < maxItems {
			m.set(e.value(target.Kids[1], s), v)
		}
	}
}

// convertAll evaluates [f(a) for a in sys.argv[1:]].
func (e *evaluator) convertAll(n *syntax.Node, v argvector, s *scope) value {
	conditions, _ := n.Value.([]*syntax.Node)
	if len(n.Kids) > 3 || len(conditions) > 0 || n.Kids[1].Kind != syntax.Name || v == 0 {
		e.words.fail(n.Line, "it computes a list of its arguments")
		return unknown{}
	}
	inner := newScope(s)
	inner.vars[n.Kids[1].Name] = e.words.list(v, false, n.Line)
	return e.value(n.Kids[0], inner)
}

// operateWords evaluates a binary operator.
func (e *evaluator) operateWords(n *syntax.Node, a, b value) value {
	if _, is := b.(argvector); is && (n.Name == "in" || n.Name == "not in") {
		return e.words.find(a, n.Line)
	}
	e.words.spend(n.Line, a, b)
	return e.builtins.operate(n.Name, a, b)
}

// ternary evaluates a conditional expression.
func (e *evaluator) ternary(n *syntax.Node, s *scope) value {
	w, asked := e.words, e.words.asked
	yes, no := e.divide(n.Kids[0], s)
	var a, b value
	if w.path = yes; !yes.ended {
		a = e.value(n.Kids[1], s)
	}
	yes = w.path
	if w.path = no; !no.ended {
		b = e.value(n.Kids[2], s)
	}
	w.path = yes.join(w.path)
	switch {
	case a == nil && b == nil:
		return unknown{}
	case a == nil:
		return b
	case b == nil:
		return a
	}
	if _, other := b.(*sequence); other && isNone(a) && w.asked > asked {
		return a // parse_args(None if sys.argv[1:] else ["--help"]): a script is called with arguments
	}
	return e.words.eitherOf(a, b)
}

// boolean evaluates "and" and "or".
func (e *evaluator) boolean(n *syntax.Node, s *scope) value {
	w := e.words
	before := w.path.clone()
	left := e.value(n.Kids[0], s)
	w.path = before
	yes, no := e.divide(n.Kids[0], s)
	if n.Name == "or" {
		yes, no = no, yes // where the right side is evaluated, and where it is not
	}
	if w.path = yes; yes.ended {
		w.path = no
		return left
	}
	right := e.value(n.Kids[1], s)
	w.path = w.path.join(no)
	if no.ended {
		return right
	}
	if _, is := left.(argvector); is && n.Name == "or" {
		w.fail(n.Line, "which arguments it reads depends on a condition")
	}
	if n.Name == "and" {
		left = unknown{}
	}
	return e.words.eitherOf(left, right)
}

// divide evaluates a condition. It returns the ways on which it is true, and the others.
func (e *evaluator) divide(n *syntax.Node, s *scope) (yes, no *wordPath) {
	w := e.words
	switch {
	case w.path.ended || !e.charge(1+len(w.path.texts)):
		return w.path.clone(), w.path.clone()
	case n.Kind == syntax.Unary && n.Name == "not":
		no, yes = e.divide(n.Kids[0], s)
		return yes, no
	case n.Kind == syntax.Bool:
		yes, no = e.divide(n.Kids[0], s)
		if n.Name == "and" {
			w.path = yes
			both, fails := e.divide(n.Kids[1], s)
			return both, no.join(fails)
		}
		w.path = no
		holds, neither := e.divide(n.Kids[1], s)
		return yes.join(holds), neither
	case n.Kind == syntax.Binary:
		a, b := e.value(n.Kids[0], s), e.value(n.Kids[1], s)
		if yes, no, ok := w.compare(n.Name, a, b, n.Line); ok {
			return yes, no
		}
		w.spend(n.Line, a, b)
		return w.byTruth(e.builtins.operate(n.Name, a, b))
	}
	return w.byTruth(e.value(n, s))
}
