package python

import (
	"path"
	"slices"
	"strings"
)

// arguments evaluates the arguments of a call.
func (i *interp) arguments(n *node, s *scope) *arguments {
	a := &arguments{line: n.line}
	for _, kid := range n.kids[1:] {
		switch {
		case kid.kind == nStar:
			v := i.eval(kid.kids[0], s)
			items, ok := iterable(v)
			a.spread = a.spread || !ok
			if rest, is := v.(argvector); is {
				a.rest = &rest
			}
			if i.charge(len(items)) {
				a.positional = append(a.positional, items...)
			}
		case kid.kind == nKeyword && kid.name == "":
			i.spreadKeywords(a, i.eval(kid.kids[0], s))
		case kid.kind == nKeyword:
			a.keywords = append(a.keywords, keyword{kid.name, i.eval(kid.kids[0], s)})
		default:
			a.positional = append(a.positional, i.eval(kid, s))
		}
	}
	return a
}

func (i *interp) spreadKeywords(a *arguments, v value) {
	m, ok := v.(*mapping)
	if !ok {
		a.spread = true
		return
	}
	for at, key := range m.keys {
		name, ok := key.(string)
		a.spread = a.spread || !ok
		a.keywords = append(a.keywords, keyword{name, m.values[at]})
	}
	i.charge(len(m.keys))
}

// call evaluates a call.
func (i *interp) call(n *node, s *scope) value {
	callee := i.eval(n.kids[0], s)
	a := i.arguments(n, s)
	if !i.charge(1) {
		return unknown{}
	}
	switch f := callee.(type) {
	case reference:
		return i.libraryFunction(f, a)
	case *function:
		if f.relevant || slices.ContainsFunc(a.positional, declaresOn) {
			return i.invoke(f, a)
		}
		f.called = true
		return unknown{}
	case *class:
		return i.construct(f, a)
	case *parser:
		return i.parserMethod(f, "", a)
	case method:
		return i.callMethod(f, a)
	}
	i.escape(a)
	return unknown{}
}

// declaresOn reports whether a function that is given a value can declare arguments.
func declaresOn(v value) bool {
	switch v.(type) {
	case *parser, *group, *subparsers:
		return true
	}
	return false
}

// construct makes a parser of the file's own class. Of another class it executes
// the constructor; its object is not known.
func (i *interp) construct(c *class, a *arguments) value {
	if c.comesFrom("ArgumentParser", "argparse") {
		return i.newParser(c, a)
	}
	if c.relevant() && i.unread == nil {
		i.unread = &Note{a.line, "the class " + c.name + " declares arguments, which is not followed"}
	}
	init, _ := c.member("__init__")
	if fn, ok := init.(*function); ok && fn.relevant {
		with := *a
		with.positional = append([]value{unknown{}}, a.positional...)
		i.invoke(fn, &with)
		return unknown{}
	}
	i.escape(a)
	return unknown{}
}

func (i *interp) callMethod(m method, a *arguments) value {
	switch o := m.receiver.(type) {
	case *parser:
		return i.parserMethod(o, m.name, a)
	case *group:
		return i.groupMethod(o, m.name, a)
	case *subparsers:
		return i.subparsersMethod(o, m.name, a)
	case string:
		return i.textMethod(o, m.name, a)
	case *sequence:
		i.sequenceMethod(o, m.name, a)
		return unknown{}
	case *mapping:
		return i.mappingMethod(o, m.name, a)
	}
	if declares(m.name) && m.name != "ArgumentParser" && i.stray == nil {
		i.stray = &Note{a.line, "which parser " + m.name + " belongs to is not known"}
	}
	i.escape(a)
	return unknown{}
}

// escape marks parsers that are given to code that is not known: it may add
// arguments.
func (i *interp) escape(a *arguments) {
	given := slices.Clone(a.positional)
	for _, k := range a.keywords {
		given = append(given, k.value)
	}
	for _, v := range given {
		if seq, ok := v.(*sequence); ok && len(seq.items) <= maxUnroll {
			given = append(given, seq.items...)
		}
	}
	for _, v := range given {
		if p := parserOf(v); p != nil {
			p.poison(a.line, "the parser is given to a function of another file, which may add arguments")
		}
	}
}

// parserOf returns the parser that a declaration on v adds to.
func parserOf(v value) *parser {
	switch v := v.(type) {
	case *parser:
		return v
	case *group:
		return v.parser
	case *subparsers:
		return v.parser
	}
	return nil
}

// invoke executes one of the file's own functions.
func (i *interp) invoke(fn *function, a *arguments) value {
	if i.calls >= maxCalls || !i.charge(len(fn.params)+1) {
		i.escape(a)
		return unknown{}
	}
	fn.called = true
	f := &frame{scope: newScope(fn.scope)}
	i.bindParameters(fn, a, f.scope)
	i.calls++
	i.run(fn.body, f)
	i.calls--
	if f.result == nil {
		return none{}
	}
	return f.result
}

// bindParameters gives a function's parameters their values.
func (i *interp) bindParameters(fn *function, a *arguments, inner *scope) {
	rest := a.positional
	for _, p := range fn.params {
		switch {
		case p.star == "*":
			inner.vars[p.name] = &sequence{items: rest, open: '('}
			if a.rest != nil && len(rest) == 0 {
				inner.vars[p.name] = *a.rest
			} else if a.spread {
				inner.vars[p.name] = unknown{}
			}
			rest = nil
		case p.star == "**":
			inner.vars[p.name] = spareKeywords(fn, a)
		case !p.keyword && len(rest) > 0:
			inner.vars[p.name], rest = rest[0], rest[1:]
		default:
			v, given := a.get(-1, p.name)
			if !given && !a.spread && p.fallback != nil {
				v, given = i.eval(p.fallback, fn.scope), true
			}
			if !given {
				v = unknown{}
			}
			inner.vars[p.name] = v
		}
	}
}

// spareKeywords returns the value of **kwargs.
func spareKeywords(fn *function, a *arguments) value {
	if a.spread {
		return unknown{}
	}
	m := &mapping{}
	for _, k := range a.keywords {
		if !slices.ContainsFunc(fn.params, func(p param) bool { return p.name == k.name && p.star == "" }) {
			m.set(k.name, k.value)
		}
	}
	return m
}

// libraryFunction evaluates a call of a function that the file does not define.
func (i *interp) libraryFunction(name reference, a *arguments) value {
	switch name {
	case "argparse.ArgumentParser":
		return i.newParser(nil, a)
	case "typer.Typer":
		return i.typerApp(a)
	case "typer.run":
		if fn, ok := a.first().(*function); ok {
			i.parses = append(i.parses, parse{i.typerCommand(fn, &arguments{}, fn.scope), a.line})
		}
		return unknown{}
	case "typer.Option", "typer.Argument", "pydantic.Field", "pydantic.v1.Field", "langchain_core.pydantic_v1.Field", "langchain.pydantic_v1.Field", "argparse.FileType":
		return &libraryCall{name, a}
	}
	if strings.HasPrefix(string(name), "click.") {
		return &libraryCall{name, a}
	}
	return i.plainFunction(name, a)
}

// plainFunction evaluates a call of a function of values.
func (i *interp) plainFunction(name reference, a *arguments) value {
	text, isText := a.first().(string)
	switch name {
	case "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.frozenset":
		return i.collection(name.last(), a)
	case "builtins.range":
		return i.rangeOf(a)
	case "builtins.dict":
		if !a.spread && len(a.positional) == 0 {
			return spareKeywords(&function{}, a)
		}
		return unknown{}
	case "builtins.str":
		if named, ok := a.first().(unknown); ok && named.path != "" {
			return named
		}
		if text, ok := pyStr(a.first()); ok {
			return text
		}
	case "builtins.isinstance":
		if kind, ok := (&arguments{positional: a.positional[min(1, len(a.positional)):]}).first().(reference); ok && isText {
			return kind == "builtins.str"
		}
	case "pathlib.Path", "pathlib.PurePath":
		return unknown{path: text}
	case "pathlib.Path.cwd", "os.getcwd":
		return unknown{path: "."}
	case "os.path.basename":
		if isText {
			return path.Base(text)
		}
	case "textwrap.dedent", "inspect.cleandoc":
		if isText {
			return cleanDoc(text)
		}
	case "argcomplete.autocomplete", "builtins.print", "builtins.repr", "builtins.type", "builtins.id", "builtins.len", "builtins.vars", "builtins.hasattr", "builtins.callable":
		return unknown{} // they add nothing to a parser
	}
	i.escape(a)
	return unknown{}
}

func (i *interp) collection(kind string, a *arguments) value {
	items, ok := itemsOf(a.first())
	if len(a.positional) == 0 {
		return &sequence{open: '['}
	}
	if v, is := a.first().(argvector); is && kind == "list" {
		return v
	}
	if !ok || !i.charge(len(items)) {
		return unknown{}
	}
	switch items = slices.Clone(items); kind {
	case "tuple":
		return &sequence{items, '('}
	case "list":
		return &sequence{items, '['}
	case "sorted":
		return sorted(items, a)
	}
	return &sequence{items, '{'}
}

// sorted sorts texts.
func sorted(items []value, a *arguments) value {
	if len(a.keywords) > 0 || slices.ContainsFunc(items, func(v value) bool { _, ok := v.(string); return !ok }) {
		return unknown{}
	}
	slices.SortFunc(items, func(a, b value) int { return strings.Compare(a.(string), b.(string)) })
	return &sequence{items, '['}
}

// rangeOf evaluates range(to) and range(from, to).
func (i *interp) rangeOf(a *arguments) value {
	bounds := [2]int64{}
	for at, v := range a.positional {
		n, ok := v.(int64)
		if !ok || at > 1 {
			return unknown{}
		}
		bounds[at] = n
	}
	if len(a.positional) == 1 {
		bounds = [2]int64{0, bounds[0]}
	}
	if bounds[0] < -1<<40 || bounds[1] > 1<<40 || bounds[1]-bounds[0] > maxItems || !i.charge(int(max(bounds[1]-bounds[0], 0))) {
		return unknown{}
	}
	seq := &sequence{open: '['}
	for n := bounds[0]; n < bounds[1]; n++ {
		seq.items = append(seq.items, n)
	}
	return seq
}

// textMethod evaluates a method of a string.
func (i *interp) textMethod(s, name string, a *arguments) value {
	if !i.charge(len(s) / 16) {
		return unknown{}
	}
	if len(a.positional) == 0 && len(a.keywords) == 0 {
		switch name {
		case "strip":
			return strings.TrimSpace(s)
		case "lower":
			return strings.ToLower(s)
		case "upper":
			return strings.ToUpper(s)
		case "split":
			if words := strings.Fields(s); len(words) <= maxItems {
				return textSequence(words)
			}
		}
	}
	switch name {
	case "join":
		return i.join(s, a.first())
	case "replace":
		return replace(s, a)
	case "format":
		before, _, _ := strings.Cut(s, "{")
		return unknown{prefix: before}
	}
	return unknown{}
}

func (i *interp) join(separator string, v value) value {
	items, ok := iterable(v)
	if !ok {
		return unknown{}
	}
	texts, size := make([]string, len(items)), 0
	for at, item := range items {
		if texts[at], ok = item.(string); !ok {
			return unknown{}
		}
		size += len(texts[at]) + len(separator)
	}
	if size > maxText || !i.charge(size/16) {
		return unknown{}
	}
	return strings.Join(texts, separator)
}

func replace(s string, a *arguments) value {
	if len(a.positional) != 2 {
		return unknown{}
	}
	from, okFrom := a.positional[0].(string)
	to, okTo := a.positional[1].(string)
	if !okFrom || !okTo || from == "" || strings.Count(s, from)*len(to)+len(s) > maxText {
		return unknown{}
	}
	return strings.ReplaceAll(s, from, to)
}

// sequenceMethod does what a method does to a list. After a method that is not
// known, the list has one unknown item.
func (i *interp) sequenceMethod(s *sequence, name string, a *arguments) {
	switch name {
	case "index", "count", "copy":
		return
	case "append", "add":
		if i.unsure == 0 && len(s.items) < maxItems {
			s.items = append(s.items, a.first())
			return
		}
	}
	s.items = []value{unknown{}}
}

// mappingMethod does what a method of a dict does.
func (i *interp) mappingMethod(m *mapping, name string, a *arguments) value {
	switch name {
	case "keys":
		return &sequence{slices.Clip(m.keys), '['}
	case "values":
		return &sequence{slices.Clip(m.values), '['}
	case "items":
		seq := &sequence{open: '['}
		if !i.charge(len(m.keys)) {
			return unknown{}
		}
		for at := range m.keys {
			seq.items = append(seq.items, &sequence{[]value{m.keys[at], m.values[at]}, '('})
		}
		return seq
	case "get":
		if v, ok := m.get(a.first()); ok {
			return v
		}
		return unknown{}
	case "copy":
		return unknown{}
	}
	*m = mapping{keys: []value{unknown{}}, values: []value{unknown{}}}
	return unknown{}
}
