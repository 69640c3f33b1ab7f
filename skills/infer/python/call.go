package python

import (
	"path"
	"slices"
	"strings"
)

// arguments are those of one call.
type arguments struct {
	line       int
	positional []value
	keywords   []keyword
	spread     bool       // there are more, which are not known
	rest       *argvector // these are the script's arguments
}

type keyword struct {
	name  string
	value value
}

// get returns the argument at a position, or of a name.
func (a *arguments) get(at int, name string) (value, bool) {
	if at >= 0 && at < len(a.positional) {
		return a.positional[at], true
	}
	for _, k := range a.keywords {
		if k.name == name {
			return k.value, true
		}
	}
	return nil, false
}

// named returns the keyword argument of a name, or what is used without it.
func (a *arguments) named(name string, otherwise value) value {
	if v, ok := a.get(-1, name); ok {
		return v
	}
	return otherwise
}

// text returns a keyword argument that is text; "" where there is none. It
// reports false where it is not known.
func (a *arguments) text(name string) (string, bool) {
	switch v := a.named(name, none{}).(type) {
	case string:
		return v, true
	case none:
		return "", true
	}
	return "", false
}

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

// call evaluates a call, and follows it where it is one of the file's own
// functions.
func (i *interp) call(n *node, s *scope) value {
	callee := i.eval(n.kids[0], s)
	a := i.arguments(n, s)
	if !i.charge(1) {
		return unknown{}
	}
	switch f := callee.(type) {
	case reference:
		return i.builtin(f, a)
	case *function:
		return i.follow(f, a, s)
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

func (i *interp) callMethod(m method, a *arguments) value {
	if m.function != nil {
		with := *a
		if !isStatic(m.function) {
			with.positional = append([]value{m.receiver}, a.positional...)
		}
		return i.follow(m.function, &with, nil)
	}
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

func isStatic(fn *function) bool {
	for _, decorator := range fn.decorators {
		if name, _ := decoratorName(decorator); name == "staticmethod" {
			return true
		}
	}
	return false
}

// harmless are functions outside of the file that add nothing to a parser they
// are given.
func harmless(name reference) bool {
	switch name {
	case "argcomplete.autocomplete", "builtins.print", "builtins.str", "builtins.repr", "builtins.isinstance", "builtins.type", "builtins.id", "builtins.len", "builtins.vars", "builtins.hasattr", "shtab.add_argument_to", "contextlib.suppress", "builtins.callable":
		return name != "shtab.add_argument_to"
	}
	return false
}

// escape marks parsers that are given to code which is not known: it may add
// arguments.
func (i *interp) escape(a *arguments) {
	for _, v := range a.positional {
		escapeValue(v, a.line, 0)
	}
	for _, k := range a.keywords {
		escapeValue(k.value, a.line, 0)
	}
}

const escapes = "the parser is given to a function of another file, which may add arguments"

func escapeValue(v value, line, depth int) {
	switch v := v.(type) {
	case *parser:
		v.poison(line, escapes)
	case *group:
		v.parser.poison(line, escapes)
	case *subparsers:
		v.parser.poison(line, escapes)
	case *sequence:
		if depth < 2 && len(v.items) <= maxUnroll {
			for _, item := range v.items {
				escapeValue(item, line, depth+1)
			}
		}
	}
}

// follow executes one of the file's own functions. s is where it is called.
func (i *interp) follow(fn *function, a *arguments, s *scope) value {
	if i.calls >= maxCalls || !i.charge(len(fn.params)+1) || !fn.relevant && i.spare <= 0 {
		i.escape(a)
		return unknown{}
	}
	fn.called = true
	if !fn.relevant && !i.aside {
		i.steps, i.spare, i.aside = i.spare, i.steps, true
		defer func() { i.steps, i.spare, i.aside = i.spare, i.steps, false }()
	}
	inner := newScope(fn.scope)
	i.bindParameters(fn, a, inner)
	i.calls++
	defer func() { i.calls-- }()
	f := &frame{scope: inner}
	i.run(fn.body, f)
	if f.result == nil {
		return none{}
	}
	return f.result
}

// bindParameters gives a function's parameters their values. The names are new,
// so they are assigned whether the call is certain or not.
func (i *interp) bindParameters(fn *function, a *arguments, inner *scope) {
	rest := a.positional
	for _, p := range fn.params {
		switch {
		case p.star == "*":
			inner.vars[p.name] = &sequence{items: rest, open: '('}
			if a.spread {
				inner.vars[p.name] = unknown{}
			}
			if a.rest != nil && len(rest) == 0 {
				inner.vars[p.name] = *a.rest
			}
			rest = nil
		case p.star == "**":
			inner.vars[p.name] = spareKeywords(fn, a)
		case !p.keyword && len(rest) > 0:
			inner.vars[p.name], rest = rest[0], rest[1:]
		default:
			inner.vars[p.name] = i.parameter(fn, p, a)
		}
	}
}

func (i *interp) parameter(fn *function, p param, a *arguments) value {
	if v, ok := a.get(-1, p.name); ok {
		return v
	}
	if a.spread {
		return unknown{}
	}
	if p.fallback != nil {
		return i.eval(p.fallback, fn.scope)
	}
	return unknown{}
}

// spareKeywords returns what **kwargs holds.
func spareKeywords(fn *function, a *arguments) value {
	if a.spread {
		return unknown{}
	}
	m := &mapping{}
	for _, k := range a.keywords {
		declared := false
		for _, p := range fn.params {
			declared = declared || p.name == k.name && p.star == ""
		}
		if !declared {
			m.set(k.name, k.value)
		}
	}
	return m
}

// construct makes an object of a class of the file.
func (i *interp) construct(c *class, a *arguments) value {
	if custom := c.parserClass(); custom {
		return i.newParser(c, a)
	}
	o := &instance{class: c, attrs: map[string]value{}}
	if init, ok := bound(o, c, "__init__").(method); ok {
		i.callMethod(init, a)
	} else {
		i.escape(a)
	}
	return o
}

// parserClass reports whether a class comes from argparse.ArgumentParser.
func (c *class) parserClass() bool {
	for depth := 0; c != nil && depth < maxCalls && len(c.parents) > 0; depth++ {
		for _, parent := range c.parents {
			if parent == reference("argparse.ArgumentParser") {
				return true
			}
		}
		c, _ = c.parents[0].(*class)
	}
	return false
}

// builtin evaluates a call of something that the file does not define.
func (i *interp) builtin(name reference, a *arguments) value {
	if strings.HasPrefix(string(name), "click.") {
		return clickCall(name, a)
	}
	switch name {
	case "pydantic.Field", "pydantic.v1.Field", "langchain_core.pydantic_v1.Field", "langchain.pydantic_v1.Field":
		return newField(a)
	case "typer.Typer":
		return i.typerApp(a)
	case "typer.Option", "typer.Argument":
		return &typerParam{name == "typer.Option", a}
	case "typer.run":
		if fn, ok := first(a).(*function); ok {
			p := i.typerCommand(fn, &arguments{}, fn.scope)
			i.parses = append(i.parses, parse{p, a.line})
		}
		return unknown{}
	}
	switch name {
	case "argparse.ArgumentParser":
		return i.newParser(nil, a)
	case "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.frozenset":
		return i.collection(name, a)
	case "builtins.range":
		return i.rangeOf(a)
	case "builtins.dict":
		return dictOf(a)
	case "builtins.str":
		return strOf(a)
	case "builtins.bool":
		if is, known := truth(first(a)); known && len(a.positional) == 1 {
			return is
		}
		return unknown{}
	case "builtins.isinstance":
		if _, text := first(a).(string); text && len(a.positional) == 2 {
			if kind, ok := a.positional[1].(reference); ok {
				return kind == "builtins.str"
			}
		}
		return unknown{}
	case "distutils.util.strtobool", "setuptools._distutils.util.strtobool":
		return strToBool(first(a))
	case "builtins.enumerate", "builtins.zip", "builtins.map", "builtins.reversed":
		return unknown{}
	case "pathlib.Path", "pathlib.PurePath":
		text, _ := first(a).(string)
		return unknown{path: text}
	case "pathlib.Path.cwd", "os.getcwd":
		return unknown{path: "."}
	case "builtins.int", "builtins.float":
		return unknown{}
	case "argparse.FileType":
		mode, _ := a.get(0, "mode")
		return fileType(writes(mode))
	case "os.path.basename":
		if text, ok := first(a).(string); ok {
			return path.Base(text)
		}
		if text, ok := first(a).(fileName); ok {
			return string(text)
		}
		return unknown{}
	case "textwrap.dedent", "inspect.cleandoc":
		if text, ok := first(a).(string); ok {
			return cleanDoc(text)
		}
		return unknown{}
	}
	if !harmless(name) {
		i.escape(a)
	}
	return unknown{}
}

// fileName is the name of the script, of which the folder is not known.
type fileName string

func first(a *arguments) value {
	if len(a.positional) == 0 {
		return unknown{}
	}
	return a.positional[0]
}

func (i *interp) collection(name reference, a *arguments) value {
	if len(a.positional) == 0 {
		return &sequence{open: '['}
	}
	if v, is := a.positional[0].(argvector); is && name == "builtins.list" {
		return v
	}
	items, ok := iterable(a.positional[0])
	if seq, is := a.positional[0].(*sequence); is {
		items, ok = seq.items, true
	}
	if !ok || !i.charge(len(items)) {
		return unknown{}
	}
	switch name {
	case "builtins.tuple":
		return &sequence{slices.Clip(items), '('}
	case "builtins.list":
		return &sequence{append([]value{}, items...), '['}
	case "builtins.sorted":
		return sorted(items, a)
	}
	return &sequence{items, '{'}
}

func sorted(items []value, a *arguments) value {
	texts := make([]string, len(items))
	for at, item := range items {
		text, ok := item.(string)
		if !ok || len(a.keywords) > 0 {
			return unknown{}
		}
		texts[at] = text
	}
	return textSequence(texts)
}

func (i *interp) rangeOf(a *arguments) value {
	bounds := []int64{0, 0, 1}
	for at, v := range a.positional {
		n, ok := v.(int64)
		if !ok || at > 2 {
			return unknown{}
		}
		bounds[at] = n
	}
	if len(a.positional) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	if bounds[2] <= 0 || bounds[0] > 1<<40 || bounds[0] < -1<<40 || (bounds[1]-bounds[0])/bounds[2] > maxItems {
		return unknown{}
	}
	if !i.charge(int(max(bounds[1]-bounds[0], 0)/bounds[2]) / 4) {
		return unknown{}
	}
	seq := &sequence{open: '['}
	for n := bounds[0]; n < bounds[1]; n += bounds[2] {
		seq.items = append(seq.items, n)
	}
	return seq
}

func dictOf(a *arguments) value {
	m := &mapping{}
	if a.spread || len(a.positional) > 0 {
		return unknown{}
	}
	for _, k := range a.keywords {
		m.set(k.name, k.value)
	}
	return m
}

func strOf(a *arguments) value {
	if named, ok := first(a).(unknown); ok && named.path != "" {
		return named
	}
	text, ok := pyStr(first(a))
	if !ok {
		return unknown{}
	}
	return text
}

// strToBool is strtobool of distutils.
func strToBool(v value) value {
	text, _ := v.(string)
	switch strings.ToLower(text) {
	case "y", "yes", "t", "true", "on", "1":
		return int64(1)
	case "n", "no", "f", "false", "off", "0":
		return int64(0)
	}
	return unknown{}
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
			return wordsOf(s)
		}
	}
	switch name {
	case "startswith":
		if prefix, ok := first(a).(string); ok && len(a.positional) == 1 {
			return strings.HasPrefix(s, prefix)
		}
	case "join":
		return i.joinTexts(s, first(a))
	case "replace":
		return i.replaceText(s, a)
	case "format":
		before, _, _ := strings.Cut(s, "{")
		return unknown{prefix: before}
	}
	return unknown{}
}

func wordsOf(s string) value {
	words := strings.Fields(s)
	if len(words) > maxItems {
		return unknown{}
	}
	seq := &sequence{open: '['}
	for _, word := range words {
		seq.items = append(seq.items, word)
	}
	return seq
}

func (i *interp) joinTexts(separator string, v value) value {
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

func (i *interp) replaceText(s string, a *arguments) value {
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

// sequenceMethod does what a method does to a list. What it cannot know makes
// one item of the list unknown.
func (i *interp) sequenceMethod(s *sequence, name string, a *arguments) {
	switch name {
	case "append", "add":
		if i.unsure == 0 && len(s.items) < maxItems {
			s.items = append(s.items, first(a))
			return
		}
	case "index", "count", "copy":
		return
	}
	s.items = append(s.items[:0:0], unknown{})
}

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
		if v, ok := m.get(first(a)); ok {
			return v
		}
		if _, text := first(a).(string); text && len(a.positional) < 2 {
			return none{}
		}
		return unknown{}
	case "copy":
		return unknown{}
	}
	m.keys, m.values, m.index = []value{unknown{}}, []value{unknown{}}, nil
	return unknown{}
}
