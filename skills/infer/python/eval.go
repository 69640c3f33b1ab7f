package python

import (
	"slices"
	"strings"
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
func (e *evaluator) eval(n *node, s *scope) value {
	if n == nil || !e.charge(1) {
		return unknown{}
	}
	switch n.kind {
	case nConst:
		if n.value == nil { // of bytes, or a number that is too large
			return unknown{}
		}
		return n.value
	case nName:
		return s.lookup(n.name)
	case nAttribute:
		return e.attribute(e.eval(n.kids[0], s), n.name, n.line)
	case nSubscript:
		return e.subscript(n, s)
	case nCall:
		return e.call(n, s)
	case nTuple, nList, nSet:
		a := e.arguments(n, s)
		if a.spread {
			return unknown{}
		}
		return &sequence{a.positional, map[nodeKind]byte{nTuple: '(', nList: '[', nSet: '{'}[n.kind]}
	case nDict:
		return e.dict(n, s)
	case nUnary:
		return negate(n.name, e.eval(n.kids[0], s))
	case nBinary:
		a, b := e.eval(n.kids[0], s), e.eval(n.kids[1], s)
		return e.operateWords(n, a, b)
	case nBool:
		return e.boolean(n, s)
	case nTernary:
		return e.ternary(n, s)
	case nFString:
		return e.format(n, s)
	case nLambda:
		return &function{funcDef: n.value.(*funcDef), scope: s}
	case nWalrus:
		v := e.eval(n.kids[0], s)
		e.assign(s, n.name, v)
		return v
	case nAs:
		e.eval(n.kids[0], s)
		e.bind(n.kids[1], unknown{}, s)
		return unknown{}
	case nComprehension:
		if v, ok := e.eval(n.kids[2], s).(argvector); ok {
			return e.convertAll(n, v, s)
		}
		e.unsure++
		defer func() { e.unsure-- }()
		s = newScope(s)
		for at := 1; at < len(n.kids); at += 2 {
			e.bind(n.kids[at], unknown{}, s)
		}
	}
	for _, kid := range n.kids {
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

func (e *evaluator) subscript(n *node, s *scope) value {
	object, index := e.eval(n.kids[0], s), n.kids[1]
	if index.kind == nSlice {
		from, ok := e.eval(index.kids[0], s).(int64)
		v, is := object.(argvector)
		if is && ok && index.kids[1] == nil && index.kids[2] == nil && from >= 0 {
			return v + argvector(min(from, 1000))
		}
		if is {
			e.words.fail(n.line, "it reads arguments at places that are computed")
		}
		return unknown{}
	}
	key := e.eval(index, s)
	switch o := object.(type) {
	case argvector:
		return e.words.at(key, o, n.line)
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

func (e *evaluator) dict(n *node, s *scope) value {
	m := &mapping{}
	certain := true
	for at := 0; at+1 < len(n.kids); at += 2 {
		v := e.eval(n.kids[at+1], s)
		if n.kids[at] != nil {
			key := e.eval(n.kids[at], s)
			m.set(key, v)
			certain = certain && !isUnknown(key)
		} else {
			other, ok := v.(*mapping)
			certain = certain && ok && e.charge(len(other.keys)) && m.add(other)
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
func (e *evaluator) format(n *node, s *scope) value {
	var b strings.Builder
	for _, part := range n.kids {
		v := e.eval(part, s)
		text, ok := pyStr(v)
		e.words.spend(n.line, v)
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
func (e *evaluator) arguments(n *node, s *scope) *arguments {
	a := &arguments{line: n.line}
	kids := n.kids
	if n.kind == nCall {
		kids = kids[1:]
	}
	for _, kid := range kids {
		switch {
		case kid == nil:
			a.spread = true
		case kid.kind == nStar:
			a.spreadItems(e.reading, e.eval(kid.kids[0], s))
		case kid.kind == nKeyword && kid.name == "":
			a.spreadKeywords(e.reading, e.eval(kid.kids[0], s))
		case kid.kind == nKeyword:
			a.keywords = append(a.keywords, keyword{kid.name, e.eval(kid.kids[0], s)})
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
	if rest, is := v.(argvector); is {
		a.rest = &rest
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
func (e *evaluator) call(n *node, s *scope) value {
	callee := e.eval(n.kids[0], s)
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
	if declares(m.name) && m.name != "ArgumentParser" && m.name != "OptionParser" && m.name != "add_option" && e.stray == nil {
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
