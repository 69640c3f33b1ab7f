package python

import (
	"cmp"
	"slices"
	"strings"
)

// A wordEval evaluates expressions on a path, and follows the script's arguments
// through them.
type wordEval struct {
	*wordRecord
	// invoke calls a function of the file; the walk's.
	invoke func(fn *function, a *wordArgs, p *wordPath) value
	// split is the walk's: it divides a path by a condition.
	split func(n *node, p *wordPath) (yes, no *wordPath)
}

func (e *wordEval) eval(n *node, p *wordPath) value {
	if n == nil || p.ended || !e.charge(1) {
		return unknown{}
	}
	switch n.kind {
	case nConst:
		return n.value
	case nName:
		return e.known(p.lookup(n.name), n.line)
	case nAttribute:
		return e.attribute(n, p)
	case nSubscript:
		return e.subscript(n, p)
	case nCall:
		return e.call(n, p)
	case nTuple, nList, nSet:
		return e.collect(n, p)
	case nDict:
		return e.dict(n, p)
	case nTernary:
		return e.choose(n, p)
	case nBool:
		return e.either(n, p)
	case nBinary:
		return e.operate(n, p)
	case nUnary:
		return negate(n.name, e.plain(e.eval(n.kids[0], p), n.line))
	case nWalrus:
		v := e.eval(n.kids[0], p)
		e.used(v, n.name)
		p.vars[n.name] = v
		return v
	case nLambda:
		e.eval(n.value.(*function).body[0].value, p.clone())
		return unknown{}
	case nComprehension:
		return e.comprehension(n, p)
	}
	for _, kid := range n.kids {
		e.plain(e.eval(kid, p), n.line)
	}
	return unknown{}
}

// plain returns a value for code that does not know the script's arguments as a list.
func (e *wordEval) plain(v value, line int) value {
	switch v := v.(type) {
	case vector:
		e.fail(line, "it passes its arguments on")
	case element:
		e.place(v, line).data = true
	case count:
		e.counted = cmp.Or(e.counted, line)
	}
	return v
}

func (e *wordEval) attribute(n *node, p *wordPath) value {
	switch o := e.eval(n.kids[0], p).(type) {
	case reference:
		path := string(o) + "." + n.name
		if path == "sys.argv" || path == "builtins.sys.argv" {
			return vector{}
		}
		return reference(path)
	case vector:
		e.fail(n.line, "it uses its arguments as a list")
	case element:
		e.place(o, n.line).data = true
	}
	return unknown{}
}

// at returns the word at an index of a vector. The script fails without it.
func (e *wordEval) at(v vector, index int64, p *wordPath, line int) value {
	if index < 0 || v.other {
		e.fail(line, "it counts its arguments from the end, or among others")
		return unknown{}
	}
	at := v.from + int(min(index, maxPlaces+1))
	if at == 0 && v.space == allWords || at < v.from {
		return unknown{}
	}
	if v.flags {
		e.fail(line, "it reads its options by their places")
	}
	word := element{v.space, at}
	place := e.place(word, line)
	place.readOn(p, word)
	e.typed(word, v.typ)
	p.limit(v.space, at, unlimited)
	return word
}

func (e *wordEval) subscript(n *node, p *wordPath) value {
	object, index := e.eval(n.kids[0], p), n.kids[1]
	v, is := object.(vector)
	if index.kind == nSlice {
		return e.slice(v, is, index, p)
	}
	key := e.eval(index, p)
	switch o := object.(type) {
	case *sequence:
		if i, ok := key.(int64); ok && i >= 0 && i < int64(len(o.items)) {
			return o.items[i]
		}
	case *mapping:
		if found, ok := o.get(key); ok {
			return found
		}
		if word, ok := key.(element); ok {
			return e.keys(word, o, p)
		}
	case element:
		e.place(o, n.line).data = true
	}
	if !is {
		return unknown{}
	}
	if i, ok := key.(int64); ok {
		return e.at(v, i, p, n.line)
	}
	e.fail(n.line, "it reads an argument at a place that is computed")
	return unknown{}
}

// keys restricts a word that a dict of constants is indexed by to its keys. The value is
// known only for one command.
func (e *wordEval) keys(word element, m *mapping, p *wordPath) value {
	if text, ok := e.assumed[word]; ok {
		if v, ok := m.get(text); ok {
			return v
		}
		p.ended = true
		return unknown{}
	}
	if texts := stringsOf(m.keys); texts != nil {
		p.restrict(word, texts)
	}
	e.dispatches = e.dispatches || slices.ContainsFunc(m.values, func(v value) bool { _, ok := v.(*function); return ok })
	return unknown{}
}

func (e *wordEval) slice(v vector, is bool, index *node, p *wordPath) value {
	from, to := e.eval(index.kids[0], p), e.eval(index.kids[1], p)
	if !is {
		return unknown{}
	}
	start, ok := from.(int64)
	if index.kids[0] == nil {
		start, ok = 0, true
	}
	switch end, bounded := to.(int64); {
	case !ok || start < 0 || index.kids[2] != nil || start > maxPlaces:
		e.fail(index.line, "it reads arguments at places that are computed")
	case index.kids[1] == nil:
		v.from += int(start)
		return v
	case bounded && end > start && end <= maxPlaces:
		seq := &sequence{open: '['}
		for i := start; i < end; i++ {
			if v.from+int(i) > 0 {
				seq.items = append(seq.items, e.perhaps(v, i, index.line))
			}
		}
		return seq
	default:
		e.fail(index.line, "it reads arguments at places that are computed")
	}
	return unknown{}
}

func (e *wordEval) collect(n *node, p *wordPath) value {
	seq := &sequence{open: map[nodeKind]byte{nTuple: '(', nList: '[', nSet: '{'}[n.kind]}
	known := true
	for _, kid := range n.kids {
		if kid.kind == nStar {
			e.plain(e.eval(kid.kids[0], p), n.line)
			known = false
			continue
		}
		seq.items = append(seq.items, e.item(e.eval(kid, p), n))
	}
	if !known {
		return unknown{}
	}
	return seq
}

// item is plain for an item of a collection: a tuple may hold the arguments, to be
// unpacked.
func (e *wordEval) item(v value, n *node) value {
	if _, is := v.(vector); is && n.kind == nTuple {
		return v
	}
	if word, is := v.(element); is && n.kind == nTuple {
		return word
	}
	return e.plain(v, n.line)
}

func (e *wordEval) dict(n *node, p *wordPath) value {
	m := &mapping{}
	for at := 0; at+1 < len(n.kids); at += 2 {
		v := e.plain(e.eval(n.kids[at+1], p), n.line)
		text, ok := "", false
		if n.kids[at] != nil {
			text, ok = e.eval(n.kids[at], p).(string)
		}
		if !ok {
			m = nil
		}
		if m != nil && len(m.keys) < maxItems {
			m.set(text, v)
		}
	}
	if m == nil {
		return unknown{}
	}
	return m
}

// choose evaluates a conditional expression.
func (e *wordEval) choose(n *node, p *wordPath) value {
	yes, no := e.split(n.kids[0], p)
	var a, b value
	if !yes.ended {
		a = e.eval(n.kids[1], yes)
	}
	if !no.ended {
		b = e.eval(n.kids[2], no)
	}
	*p = *yes.join(no, e.merged)
	switch {
	case yes.ended:
		return b
	case no.ended || same(a, b):
		return a
	}
	return e.merged(a, b)
}

// either evaluates "and" and "or".
func (e *wordEval) either(n *node, p *wordPath) value {
	left := e.eval(n.kids[0], p)
	if is, known := truth(left); known && isFixed(n.kids[0], p) && itemless(left) {
		if is == (n.name == "or") {
			return left
		}
		return e.eval(n.kids[1], p)
	}
	if t, ok := left.(flagTest); ok && n.name == "or" {
		if other, ok := e.eval(n.kids[1], p).(flagTest); ok {
			return flagTest{e.unite(t.option, other.option)}
		}
		return unknown{}
	}
	yes, no := e.split(n.kids[0], p)
	if n.name == "or" {
		yes, no = no, yes // where the right side is evaluated, and where it is not
	}
	right := e.eval(n.kids[1], yes)
	*p = *yes.join(no, e.merged)
	if n.name == "and" {
		left = unknown{}
	}
	if v, ok := left.(vector); ok {
		v.other = true
		left = v
	}
	if same(left, right) {
		return left
	}
	return e.merged(left, right)
}

func (e *wordEval) operate(n *node, p *wordPath) value {
	a, b := e.eval(n.kids[0], p), e.eval(n.kids[1], p)
	if v, ok := b.(vector); ok && n.name == "in" {
		return e.within(a, v, n.line)
	}
	a, b = e.plain(a, n.line), e.plain(b, n.line)
	if x, ok := a.(string); ok && n.name == "+" {
		if y, ok := b.(string); ok && len(x)+len(y) < maxText {
			return x + y
		}
	}
	return arithmetic(n.name, a, b)
}

// within evaluates "--flag" in sys.argv.
func (e *wordEval) within(flag value, v vector, line int) value {
	text, _ := flag.(string)
	if !strings.HasPrefix(text, "-") || text == "-" || text == "--" {
		e.fail(line, "it looks for a word among its arguments")
		return unknown{}
	}
	return flagTest{e.option(line, text)}
}

// arguments evaluates the arguments of a call.
func (e *wordEval) arguments(n *node, p *wordPath) *wordArgs {
	a := &wordArgs{line: n.line, keywords: map[string]value{}}
	for _, kid := range n.kids[1:] {
		switch {
		case kid.kind == nStar:
			e.plain(e.eval(kid.kids[0], p), n.line)
			a.opaque = true
		case kid.kind == nKeyword && kid.name == "":
			e.plain(e.eval(kid.kids[0], p), n.line)
			a.opaque = true
		case kid.kind == nKeyword:
			a.keywords[kid.name] = e.eval(kid.kids[0], p)
			e.used(a.keywords[kid.name], kid.name)
		default:
			a.nodes = append(a.nodes, kid)
			a.positional = append(a.positional, e.eval(kid, p))
		}
	}
	return a
}

func (e *wordEval) call(n *node, p *wordPath) value {
	callee := n.kids[0]
	if callee.kind == nAttribute {
		switch o := e.eval(callee.kids[0], p).(type) {
		case vector:
			e.fail(n.line, "it changes the list of its arguments, or searches it")
			return unknown{}
		case element:
			a := e.arguments(n, p)
			e.consume(a)
			return e.wordMethod(o, callee.name, a)
		case string:
			return e.textCall(o, callee.name, e.arguments(n, p), p)
		case *sequence, *mapping:
			a := e.arguments(n, p)
			e.consume(a)
			return e.collectionCall(o, callee.name, a, p)
		}
	}
	of := e.eval(callee, p)
	a := e.arguments(n, p)
	switch f := of.(type) {
	case *function:
		return e.invoke(f, a, p)
	case *class:
		if init, ok := f.members["__init__"].(*function); ok {
			with := *a
			with.positional, with.nodes = append([]value{unknown{}}, a.positional...), append([]*node{callee}, a.nodes...)
			e.invoke(init, &with, p)
			return unknown{}
		}
	case reference:
		return e.function(f, a, p)
	}
	e.consume(a)
	return unknown{}
}

// consume gives arguments to code that is not known.
func (e *wordEval) consume(a *wordArgs) {
	for _, v := range a.positional {
		e.plain(v, a.line)
	}
	for _, v := range a.keywords {
		e.plain(v, a.line)
	}
}

// function evaluates a call of a function that the file does not define.
func (e *wordEval) function(name reference, a *wordArgs, p *wordPath) value {
	first := value(nil)
	if len(a.positional) > 0 {
		first = a.positional[0]
	}
	if leaves(name) {
		e.exit(a, p)
		return unknown{}
	}
	if v, ok := first.(vector); ok {
		switch name {
		case "builtins.len":
			return count(v)
		case "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "copy.copy":
			return v
		}
	}
	if v, ok := first.(vector); ok && v.from > 0 && takesList(name) {
		e.list(v, false, a.line)
		return unknown{}
	}
	switch {
	case harmless(name):
		for _, v := range a.positional {
			if v, ok := v.(vector); ok && v.from > 0 {
				e.list(v, false, a.line)
			}
		}
		return unknown{}
	}
	if v, ok := e.convert(strings.TrimPrefix(string(name), "builtins."), a); ok {
		return v
	}
	if parsesCommandLines(string(name)) {
		e.fail(a.line, string(name)+" may read the arguments")
	}
	e.consume(a)
	return unknown{}
}

// exit ends a path. One that ends well counts.
func (e *wordEval) exit(a *wordArgs, p *wordPath) {
	e.consume(a)
	if !p.ended && endsWell(a) {
		e.ends = append(e.ends, p.clone())
	}
	p.ended = true
}

// textCall evaluates a method of a constant text: " ".join(sys.argv[1:]).
func (e *wordEval) textCall(text, name string, a *wordArgs, p *wordPath) value {
	if name == "join" && len(a.positional) == 1 {
		if v, ok := a.positional[0].(vector); ok {
			return e.list(v, text == " ", a.line)
		}
	}
	e.consume(a)
	return unknown{}
}

// collectionCall evaluates a method of a constant list or dict.
func (e *wordEval) collectionCall(o value, name string, a *wordArgs, p *wordPath) value {
	m, ok := o.(*mapping)
	if !ok {
		return unknown{}
	}
	switch name {
	case "keys":
		return &sequence{slices.Clip(m.keys), '['}
	case "get":
		if len(a.positional) > 0 && len(m.values) > 0 {
			if v, ok := m.get(a.positional[0]); ok {
				return v
			}
			if word, ok := a.positional[0].(element); ok {
				return e.keys(word, m, p)
			}
		}
	}
	return unknown{}
}

// comprehension evaluates a list of words, or of those that are options or are none.
func (e *wordEval) comprehension(n *node, p *wordPath) value {
	conditions, _ := n.value.([]*node)
	v, is := e.eval(n.kids[2], p).(vector)
	if !is || len(n.kids) > 3 || n.kids[1].kind != nName {
		inner := p.clone()
		for at := 1; at < len(n.kids); at += 2 {
			for _, name := range namesOf(n.kids[at]) {
				inner.vars[name] = unknown{}
			}
			if at > 1 {
				e.plain(e.eval(n.kids[at+1], inner), n.line)
			}
		}
		for _, part := range append(slices.Clone(conditions), n.kids[0]) {
			e.plain(e.eval(part, inner), n.line)
		}
		if is {
			e.fail(n.line, "it computes a list of its arguments")
		}
		return unknown{}
	}
	return e.filtered(n, conditions, v)
}

// filtered evaluates [f(a) for a in sys.argv[1:] if not a.startswith("-")].
func (e *wordEval) filtered(n *node, conditions []*node, v vector) value {
	variable := n.kids[1].name
	if inner := n.kids[0]; isCall(inner) && len(inner.kids) == 2 {
		v.typ = numberType(dotted(inner.kids[0]))
	} else if inner.kind != nName || inner.name != variable {
		e.fail(n.line, "it computes a list of its arguments")
	}
	for _, c := range conditions {
		negative := c.kind == nUnary && c.name == "not"
		if negative {
			c = c.kids[0]
		}
		if isCall(c) && len(c.kids) == 2 && c.kids[0].kind == nAttribute && c.kids[0].name == "startswith" && dotted(c.kids[0].kids[0]) == variable && c.kids[1].kind == nConst {
			if prefix, _ := c.kids[1].value.(string); prefix == "-" || prefix == "--" {
				if v.flags = !negative; negative {
					v.space, v.from, e.dashed = restWords, 1, true
				}
				e.skipped = true
				continue
			}
		}
		e.fail(n.line, "it computes a list of its arguments")
	}
	if v.from == 0 {
		e.fail(n.line, "it computes a list of its arguments")
	}
	return v
}

// namesOf returns the variables that a target binds.
func namesOf(target *node) []string {
	if target.kind == nName {
		return []string{target.name}
	}
	var names []string
	if target.kind == nTuple || target.kind == nList || target.kind == nStar {
		for _, kid := range target.kids {
			names = append(names, namesOf(kid)...)
		}
	}
	return names
}

// stringsOf returns values that are all texts, else nil.
func stringsOf(values []value) []string {
	var texts []string
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// isFixed reports whether the value of an expression is certain to be that of the last
// assignment: a constant, a local variable, or __name__. Functions that are not
// followed may set others, and change lists.
func isFixed(n *node, p *wordPath) bool {
	_, local := p.vars[n.name]
	return n.kind == nConst || n.kind == nName && (n.name == "__name__" || local && p.depth > 0)
}

// itemless reports whether a value cannot be changed.
func itemless(v value) bool {
	_, collection := itemsOf(v)
	return !collection
}
