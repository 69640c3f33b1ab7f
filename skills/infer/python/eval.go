package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// An evaluator reads a script's constants, and the calls that declare its command
// line, in the order in which Python would execute them. Of a condition that is
// not known it reads each branch, and takes its declarations for uncertain.
type evaluator struct {
	*reading
	globals   *scope
	library   library
	functions functions
}

// A library evaluates calls of modules beside argparse.
type library interface {
	// call evaluates a call of one of its functions; false where it is none.
	call(name reference, a *arguments) (value, bool)
	// method evaluates a call of one of its commands, or of a method of it.
	method(command *parser, name string, a *arguments) value
	// decorate returns the command that decorators make of a function, or nil.
	decorate(fn *function, s *scope) *parser
}

// newEvaluator returns one for a source of this size. Library may be nil.
func newEvaluator(prog string, m *Module, told *notes) *evaluator {
	e := &evaluator{reading: &reading{prog: prog, notes: told, words: newWordReader(""), steps: baseSteps + stepsPerByte*len(m.source)}, globals: newScope(nil), functions: m.functions}
	e.invoke = e.invokeFunction
	return e
}

func (e *evaluator) assign(s *scope, name string, v value) {
	if s.globals[name] {
		s = e.globals
	}
	e.words.named(v, name)
	if before, ok := s.vars[name]; ok && e.unsure > 0 {
		v = e.eitherOf(before, v)
	}
	s.vars[name] = v
}

// eitherOf returns the value of a variable that has one of two. The script's
// arguments with a caller's instead are the script's arguments.
func (r *reading) eitherOf(a, b value) value {
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		v, _ := pair[0].(unknown)
		if _, is := pair[1].(argvector); is && (isNone(pair[0]) || v.parameter) {
			return pair[1]
		}
	}
	if a == b {
		return a
	}
	return r.words.merged(a, b)
}

// eval returns the value of an expression. Calls in it that declare arguments change
// their parsers.
func (e *evaluator) eval(n *syntax.Node, s *scope) value {
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
		return e.attribute(e.eval(n.Kids[0], s), n.Name, n.Line)
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
		return negate(n.Name, e.eval(n.Kids[0], s))
	case syntax.Binary:
		a, b := e.eval(n.Kids[0], s), e.eval(n.Kids[1], s)
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
		v := e.eval(n.Kids[0], s)
		e.assign(s, n.Name, v)
		return v
	case syntax.As:
		e.eval(n.Kids[0], s)
		e.bind(n.Kids[1], unknown{}, s)
		return unknown{}
	case syntax.Comprehension:
		if v, ok := e.eval(n.Kids[2], s).(argvector); ok {
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
		e.eval(kid, s)
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
	object, index := e.eval(n.Kids[0], s), n.Kids[1]
	if index.Kind == syntax.Slice {
		from, ok := e.eval(index.Kids[0], s).(int64)
		v, is := object.(argvector)
		if is && ok && index.Kids[1] == nil && index.Kids[2] == nil && from >= 0 {
			return v + argvector(min(from, 1000))
		}
		if is {
			e.words.fail(n.Line, "it reads arguments at places that are computed")
		}
		return unknown{}
	}
	key := e.eval(index, s)
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
		if w, is := key.(word); is {
			return e.words.keys(w, o)
		}
	}
	return unknown{}
}

func (e *evaluator) dict(n *syntax.Node, s *scope) value {
	m := &mapping{}
	certain := true
	for at := 0; at+1 < len(n.Kids); at += 2 {
		v := e.eval(n.Kids[at+1], s)
		if n.Kids[at] != nil {
			key := e.eval(n.Kids[at], s)
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
		v := e.eval(part, s)
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

// arguments evaluates the arguments of a call, or the items of a list, a tuple or a
// set.
func (e *evaluator) arguments(n *syntax.Node, s *scope) *arguments {
	a := &arguments{line: n.Line}
	kids := n.Kids
	if n.Kind == syntax.Call {
		kids = kids[1:]
	}
	for _, kid := range kids {
		switch {
		case kid == nil:
			a.spread = true
		case kid.Kind == syntax.Star:
			a.spreadItems(e.reading, e.eval(kid.Kids[0], s))
		case kid.Kind == syntax.Keyword && kid.Name == "":
			a.spreadKeywords(e.reading, e.eval(kid.Kids[0], s))
		case kid.Kind == syntax.Keyword:
			a.keywords = append(a.keywords, keyword{kid.Name, e.eval(kid.Kids[0], s)})
		default:
			a.positional = append(a.positional, e.eval(kid, s))
		}
		if len(a.positional) > maxItems {
			a.spread, a.positional = true, nil
		}
	}
	return a
}

func (a *arguments) spreadItems(r *reading, v value) {
	items, ok := iterable(v)
	if _, is := v.(argvector); is {
		r.words.fail(a.line, "it passes its arguments on")
	}
	if !ok || !r.charge(len(items)) {
		a.spread = true
		return
	}
	a.positional = append(a.positional, items...)
}

func (a *arguments) spreadKeywords(r *reading, v value) {
	m, ok := v.(*mapping)
	if !ok || !r.charge(len(m.keys)) {
		a.spread = true
		return
	}
	for at, key := range m.keys {
		name, ok := key.(string)
		a.spread = a.spread || !ok
		a.keywords = append(a.keywords, keyword{name, m.values[at]})
	}
}

// call evaluates a call.
func (e *evaluator) call(n *syntax.Node, s *scope) value {
	callee := e.eval(n.Kids[0], s)
	a := e.arguments(n, s)
	if !e.charge(1) {
		return unknown{}
	}
	switch f := callee.(type) {
	case reference:
		return e.libraryFunction(f, a)
	case *function:
		if f.relevant || slices.ContainsFunc(a.positional, func(v value) bool { return parserOf(v) != nil || isOfWords(v) }) {
			return e.invoke(f, a)
		}
		f.called = true
		return unknown{}
	case *class:
		return e.construct(f, a)
	case *parser:
		return e.parserMethod(f, "", a)
	case method:
		return e.callMethod(f, a)
	}
	e.giveAway(a)
	return unknown{}
}

// parserMethod evaluates a method of a parser, or of a command of a library.
func (e *evaluator) parserMethod(p *parser, name string, a *arguments) value {
	if p.dialect == clickDialect {
		return e.library.method(p, name, a)
	}
	return p.call(e.reading, name, a)
}

func (e *evaluator) callMethod(m method, a *arguments) value {
	switch o := m.receiver.(type) {
	case *parser:
		return e.parserMethod(o, m.name, a)
	case *group:
		return o.call(e.reading, m.name, a)
	case *subparsers:
		return o.call(e.reading, m.name, a)
	case string:
		return e.textMethod(o, m.name, a)
	case word:
		e.giveAway(a)
		return e.words.method(o, m.name, a.line)
	case *sequence:
		if m.name != "index" && m.name != "count" && m.name != "copy" {
			o.items = []value{unknown{}} // it may change the list
		}
		return unknown{}
	case *mapping:
		return e.mappingMethod(o, m.name, a)
	}
	if declares(m.name) && m.name != "ArgumentParser" && e.stray == nil {
		e.stray = &Note{a.line, "which parser " + m.name + " belongs to is not known"}
	}
	e.giveAway(a)
	return unknown{}
}

// libraryFunction evaluates a call of a function that the file does not define.
func (e *evaluator) libraryFunction(name reference, a *arguments) value {
	switch name {
	case "argparse.ArgumentParser":
		return e.newParser(nil, a)
	case "argparse.FileType", "pydantic.Field", "pydantic.v1.Field", "langchain_core.pydantic_v1.Field", "langchain.pydantic_v1.Field":
		return &libraryCall{name, a}
	}
	if v, ok := e.library.call(name, a); ok {
		return v
	}
	return e.plainFunction(name, a)
}
