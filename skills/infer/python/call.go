package python

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

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
			a.spreadItems(e.reading, e.value(kid.Kids[0], s))
		case kid.Kind == syntax.Keyword && kid.Name == "":
			a.spreadKeywords(e.reading, e.value(kid.Kids[0], s))
		case kid.Kind == syntax.Keyword:
			a.keywords = append(a.keywords, keyword{kid.Name, e.value(kid.Kids[0], s)})
		default:
			a.positional = append(a.positional, e.value(kid, s))
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
	callee := e.value(n.Kids[0], s)
	a := e.arguments(n, s)
	if !e.charge(1) {
		return unknown{}
	}
	switch f := callee.(type) {
	case reference:
		return e.libraryFunction(f, a)
	case *function:
		if f.relevant || slices.ContainsFunc(a.positional, func(v value) bool { return isDeclarer(v) || isOfWords(v) }) {
			return e.invoke(f, a)
		}
		f.called = true
		return unknown{}
	case *class:
		return e.construct(f, a)
	case method:
		return e.callMethod(f, a)
	}
	e.giveAway(a)
	return unknown{}
}

// parserMethod evaluates a method of a parser.
func (e *evaluator) parserMethod(p *parser, name string, a *arguments) value {
	if isParse(name) {
		p.parsed(name, a)
		e.parses = append(e.parses, parse{p, a.line})
		return unknown{}
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
		return e.builtins.textMethod(o, m.name, a)
	case word:
		e.giveAway(a)
		return e.words.method(o, m.name, a.line)
	case *sequence:
		if m.name != "index" && m.name != "count" && m.name != "copy" {
			o.items = []value{unknown{}} // it may change the list
		}
		return unknown{}
	case *mapping:
		return e.builtins.mappingMethod(o, m.name, a)
	}
	if declares(m.name) && m.name != "ArgumentParser" && e.stray == nil {
		e.stray = noteOn(a.line, "which parser "+m.name+" belongs to is not known")
	}
	e.giveAway(a)
	return unknown{}
}

// libraryFunction evaluates a call of a function that the file does not define.
func (e *evaluator) libraryFunction(name reference, a *arguments) value {
	switch name {
	case "argparse.ArgumentParser":
		return newParser(e.reading, nil, a)
	case "argparse.FileType", "pydantic.Field", "pydantic.v1.Field", "langchain_core.pydantic_v1.Field", "langchain.pydantic_v1.Field":
		return &libraryCall{name, a}
	}
	return e.builtins.call(name, a)
}

// construct makes a parser of the file's own class. Of another class it executes
// the constructor; its object is not known.
func (e *evaluator) construct(c *class, a *arguments) value {
	if c.comesFrom("ArgumentParser", "argparse") {
		return newParser(e.reading, c, a)
	}
	if c.relevant() && e.unread == nil {
		e.unread = noteOn(a.line, "the class "+c.Name+" declares arguments, which is not followed")
	}
	if init, ok := c.members["__init__"].(*function); ok && (init.relevant || slices.ContainsFunc(a.positional, isOfWords)) {
		with := *a
		with.positional = append([]value{unknown{}}, a.positional...)
		e.invoke(init, &with)
	} else {
		e.giveAway(a)
	}
	return unknown{}
}

// invoke executes one of the file's own functions.
func (e *evaluator) invoke(fn *function, a *arguments) value {
	if e.calls >= maxCalls || !e.charge(len(fn.Params)+1) {
		e.giveAway(a)
		return unknown{}
	}
	fn.called = true
	f := &frame{eval: e, scope: newScope(fn.scope)}
	e.bindParameters(fn, a, f.scope)
	e.calls++
	f.run(fn.Block())
	e.calls--
	e.words.path = e.words.path.join(f.path)
	if f.result == nil {
		return syntax.None{}
	}
	return f.result
}

// bindParameters gives a function's parameters their values.
func (e *evaluator) bindParameters(fn *function, a *arguments, inner *scope) {
	rest := a.positional
	for _, p := range fn.Params {
		switch {
		case p.Star == "*":
			inner.vars[p.Name] = &sequence{items: rest, open: '('}
			if a.spread {
				inner.vars[p.Name] = unknown{}
			}
			rest = nil
		case p.Star == "**":
			inner.vars[p.Name] = spareKeywords(fn.Params, a)
		case !p.Keyword && len(rest) > 0:
			inner.vars[p.Name], rest = rest[0], rest[1:]
		default:
			v, given := a.get(-1, p.Name)
			if !given && !a.spread && p.Fallback != nil {
				v, given = e.value(p.Fallback, fn.scope), true
			}
			if !given {
				v = unknown{}
			}
			inner.vars[p.Name] = v
		}
		e.words.named(inner.vars[p.Name], p.Name)
	}
}
