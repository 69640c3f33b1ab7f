package python

import (
	"cmp"
	"slices"
	"strings"
)

// A wordWalk follows the statements of a script on all paths.
type wordWalk struct {
	*wordCond
	calls  int
	reads  map[*function]bool // that have to do with the arguments
	teller wordTeller
	jumps  []*wordPath // by break and continue, of the loop around
}

// A wordFrame is one execution of a function.
type wordFrame struct {
	returns []*wordPath
	result  value
}

func newWordWalk(size int) *wordWalk {
	w := &wordWalk{wordCond: &wordCond{&wordEval{wordRecord: newWordRecord(size)}}, reads: map[*function]bool{}}
	w.invoke, w.split = w.invokeFunction, w.divide
	return w
}

func (w *wordWalk) run(body []*stmt, p *wordPath, f *wordFrame) {
	for _, s := range body {
		cost := 1
		if s.kind == sCompound {
			cost += p.size() / 8
		}
		if p.ended || !w.charge(cost) {
			return
		}
		w.execute(s, p, f)
	}
}

func (w *wordWalk) execute(s *stmt, p *wordPath, f *wordFrame) {
	switch s.kind {
	case sExpr:
		w.expression(s.value, p)
	case sAssign:
		w.assign(s, p)
	case sAugment:
		v := w.eval(s.targets[0], p)
		w.plain(v, s.line)
		w.plain(w.eval(s.value, p), s.line)
		w.bind(s.targets[0], unknown{}, p)
	case sReturn:
		w.giveBack(s, p, f)
	case sRaise:
		w.plain(w.eval(s.value, p), s.line)
		p.ended = true
	case sJump:
		if s.name != "" {
			w.jumps = append(w.jumps, p.clone())
			p.ended = true
		}
	case sImport:
		for _, as := range s.imports {
			if as.path == "sys.argv" {
				p.vars[as.name] = vector{}
			} else if as.name != "*" {
				p.vars[as.name] = reference(as.path)
			}
		}
	case sDef:
		p.vars[s.function.name] = s.function
	case sClass:
		w.class(s.class, p)
	case sOpaque:
		w.fail(s.line, "a statement could not be read")
	case sCompound:
		w.compound(s, p, f)
	}
}

// expression executes an expression, or del of one.
func (w *wordWalk) expression(n *node, p *wordPath) {
	if n.kind == nSubscript {
		if _, ok := w.eval(n.kids[0], p).(vector); ok {
			w.fail(n.line, "it changes the list of its arguments")
		}
	}
	w.plain(w.eval(n, p), n.line)
}

func (w *wordWalk) class(c *class, p *wordPath) {
	c.members = map[string]value{}
	for _, s := range c.body {
		switch s.kind {
		case sDef:
			c.members[s.function.name] = s.function
		case sAssign:
			w.plain(w.eval(s.value, p), s.line)
		}
	}
	p.vars[c.name] = c
}

func (w *wordWalk) assign(s *stmt, p *wordPath) {
	v := w.eval(s.value, p)
	for _, target := range s.targets {
		if target.kind == nTuple && s.value.kind == nSubscript && s.value.kids[1].kind == nSlice {
			w.needs(v, p)
		}
		w.bind(target, v, p)
	}
}

// needs keeps the ways on which all words of a slice are there, which is unpacked.
func (w *wordWalk) needs(v value, p *wordPath) {
	words, _ := itemsOf(v)
	for _, item := range words {
		if word, ok := item.(element); ok {
			p.limit(word.space, word.at, unlimited)
		}
	}
}

// bind assigns to a target.
func (w *wordWalk) bind(target *node, v value, p *wordPath) {
	switch target.kind {
	case nName:
		w.used(v, target.name)
		if p.globals[target.name] == (vague{}) {
			v = vague{}
		}
		p.vars[target.name] = v
	case nTuple, nList:
		w.unpack(target, v, p)
	case nStar:
		w.bind(target.kids[0], w.plain(v, target.line), p)
	case nAttribute:
		w.used(v, target.name)
		w.plain(v, target.line)
		if w.eval(target.kids[0], p) == reference("sys") && target.name == "argv" {
			w.fail(target.line, "it sets sys.argv")
		}
	default:
		w.plain(v, target.line)
		for _, kid := range target.kids {
			w.plain(w.eval(kid, p), target.line)
		}
	}
}

// unpack assigns the words of a vector, or the items of a list, to several targets.
func (w *wordWalk) unpack(target *node, v value, p *wordPath) {
	switch v := v.(type) {
	case *sequence:
		if len(v.items) == len(target.kids) {
			for at, kid := range target.kids {
				w.bind(kid, v.items[at], p)
			}
			return
		}
	case vector:
		star := false
		for at, kid := range target.kids {
			if kid.kind == nStar && at == len(target.kids)-1 {
				star = true
				rest := v
				rest.from += at
				w.bind(kid.kids[0], rest, p)
			} else if kid.kind == nStar {
				w.fail(target.line, "it unpacks its arguments from both ends")
			} else {
				w.bind(kid, w.at(v, int64(at), p, target.line), p)
			}
		}
		if !star {
			p.limit(v.space, 0, v.from+len(target.kids)-1)
		}
		return
	}
	w.plain(v, target.line)
	for _, kid := range target.kids {
		w.bind(kid, unknown{}, p)
	}
}

func (w *wordWalk) giveBack(s *stmt, p *wordPath, f *wordFrame) {
	v := value(none{})
	if s.value != nil {
		v = w.eval(s.value, p)
	}
	if p.ended {
		return
	}
	if f.result == nil {
		f.result = v
	} else if !same(f.result, v) {
		f.result = w.merged(f.result, v)
	}
	f.returns = append(f.returns, p.clone())
	p.ended = true
}

// invokeFunction executes one of the file's own functions.
func (w *wordWalk) invokeFunction(fn *function, a *wordArgs, p *wordPath) value {
	concerned := w.reads[fn]
	for _, v := range a.positional {
		concerned = concerned || comesFromWords(v)
	}
	for _, v := range a.keywords {
		concerned = concerned || comesFromWords(v)
	}
	if !concerned || p.ended {
		return unknown{}
	}
	if w.calls >= maxInlined {
		w.consume(a)
		return unknown{}
	}
	w.visited[fn] = true
	vars := w.parameters(fn, a, p)
	for name, v := range w.outer(fn, p) {
		if _, own := vars[name]; !own {
			vars[name] = v
		}
	}
	f, before := &wordFrame{}, p.enter(vars)
	jumps := w.jumps
	w.calls++
	w.run(fn.block(), p, f)
	w.calls--
	w.jumps = jumps
	if !p.ended && f.result != nil {
		f.result = w.merged(f.result, none{})
	}
	for _, other := range f.returns {
		*p = *p.join(other, w.merged)
	}
	p.leave(before)
	if f.result == nil {
		return none{}
	}
	return f.result
}

// outer returns the variables of the function around one that is defined in it.
func (w *wordWalk) outer(fn *function, p *wordPath) map[string]value {
	if p.depth > 0 && p.vars[fn.name] == value(fn) {
		return p.vars
	}
	return nil
}

// parameters gives a function's parameters their values.
func (w *wordWalk) parameters(fn *function, a *wordArgs, p *wordPath) map[string]value {
	vars := map[string]value{}
	next := 0
	for _, param := range fn.params {
		v, given := a.keywords[param.name]
		switch {
		case param.star == "**":
			v, given = unknown{}, true
		case param.star == "*":
			v, given = &sequence{open: '('}, true
			for _, rest := range a.positional[min(next, len(a.positional)):] {
				w.plain(rest, a.line)
				v = unknown{}
			}
		case given || param.keyword:
		case next < len(a.positional):
			v, given = a.positional[next], true
			next++
		}
		if !given && param.fallback != nil {
			v = w.eval(param.fallback, p)
		} else if !given {
			v = unknown{}
		}
		w.used(v, param.name)
		vars[param.name] = v
	}
	return vars
}

func (w *wordWalk) compound(s *stmt, p *wordPath, f *wordFrame) {
	switch s.name {
	case "if":
		w.branch(s.clauses, p, f)
	case "for":
		w.loop(s, p, f)
	case "while":
		w.plain(w.eval(s.clauses[0].value, p), s.line)
		w.unrolled(s, p, f)
	case "try":
		w.try(s, p, f)
	case "match":
		w.match(s, p, f)
	default:
		w.with(s, p, f)
	}
}

func (w *wordWalk) with(s *stmt, p *wordPath, f *wordFrame) {
	for _, c := range s.clauses {
		items := []*node{c.value}
		if c.value != nil && c.value.kind == nTuple {
			items = c.value.kids
		}
		for _, item := range items {
			if item != nil && item.kind == nAs {
				w.plain(w.eval(item.kids[0], p), s.line)
				w.bind(item.kids[1], unknown{}, p)
			} else {
				w.plain(w.eval(item, p), s.line)
			}
		}
		w.run(c.body, p, f)
	}
}

// match executes each case as one that may apply.
func (w *wordWalk) match(s *stmt, p *wordPath, f *wordFrame) {
	v := w.eval(s.value, p)
	if comesFromWords(v) {
		w.fail(s.line, "it matches its arguments with patterns")
	}
	result := p.clone()
	for _, c := range s.clauses {
		way := p.clone()
		w.run(c.body, way, f)
		result = result.join(way, w.merged)
	}
	*p = *result
}

// branch executes the clauses of an if.
func (w *wordWalk) branch(clauses []clause, p *wordPath, f *wordFrame) {
	rest := p.clone()
	result := p.clone()
	result.ended = true
	for _, c := range clauses {
		yes := rest
		if c.value == nil {
			rest = &wordPath{ended: true}
		} else {
			yes, rest = w.divide(c.value, rest)
		}
		if !yes.ended {
			if narrowed(yes, p) && w.teller.refuses(c.body, p) {
				yes.ended = true
			}
			w.run(c.body, yes, f)
			result = result.join(yes, w.merged)
		}
	}
	*p = *result.join(rest, w.merged)
}

// narrowed reports whether a path has fewer ways than the one that it came from, by a
// condition on the words.
func narrowed(yes, from *wordPath) bool {
	return yes.least != from.least || yes.most != from.most || len(yes.domains) != len(from.domains) || yes.asked > from.asked
}

// try executes a try statement. A handler that goes on makes words optional.
func (w *wordWalk) try(s *stmt, p *wordPath, f *wordFrame) {
	before := p.clone()
	goesOn := false
	for _, c := range s.clauses[1:] {
		goesOn = goesOn || c.word == "except" && catches(c.value, "ValueError", "Exception", "BaseException", "TypeError") && !w.teller.refuses(c.body, p)
	}
	if goesOn {
		w.trying++
	}
	w.run(s.clauses[0].body, p, f)
	if goesOn {
		w.trying--
	}
	result := p
	for _, c := range s.clauses[1:] {
		if c.word != "except" {
			w.run(c.body, result, f)
			continue
		}
		way := before.clone()
		if !catches(c.value, "IndexError", "Exception", "BaseException", "LookupError", "ValueError") { // the words were there
			way.least = p.least
			if p.ended {
				way = before.clone()
			}
		}
		if !w.teller.refuses(c.body, p) {
			w.run(c.body, way, f)
			result = result.join(way, w.merged)
		}
	}
	*p = *result
}

// catches reports whether a handler is for one of some errors.
func catches(n *node, errors ...string) bool {
	return n == nil || n.any(func(n *node) bool { return slices.Contains(errors, n.name) })
}

// unrolled executes a loop that does not read the arguments: once, and not at all.
func (w *wordWalk) unrolled(s *stmt, p *wordPath, f *wordFrame) {
	jumps := w.jumps
	w.jumps = nil
	way := p.clone()
	forget := func(s *stmt) {
		for _, target := range s.targets {
			for _, name := range namesOf(target) {
				way.vars[name] = unknown{}
			}
		}
	}
	forget(s)
	each(s.clauses[0].body, forget) // an index of another round
	w.run(s.clauses[0].body, way, f)
	for _, jump := range w.jumps {
		way = way.join(jump, w.merged)
	}
	w.jumps = jumps
	*p = *p.join(way, w.merged)
	for _, c := range s.clauses[1:] {
		w.run(c.body, p, f)
	}
}

func (w *wordWalk) loop(s *stmt, p *wordPath, f *wordFrame) {
	over := s.clauses[0].value
	all := w.eval(over, p)
	v, is := all.(vector)
	if !is {
		w.unrolled(s, p, f)
		return
	}
	w.words(v, s.targets[0], s, p, f)
}

// words executes a loop over all words that are left.
func (w *wordWalk) words(v vector, target *node, s *stmt, p *wordPath, f *wordFrame) {
	if target.kind != nName || len(s.clauses) > 1 {
		w.fail(s.line, "it loops over its arguments in a way that is not known")
		return
	}
	if comparesOptions(s.clauses[0].body, target.name) {
		w.fail(s.line, "it looks for options in a loop")
		return
	}
	word, _ := w.list(v, false, s.line).(element)
	names := &w.place(word, s.line).names
	names.weak = cmp.Or(names.variable, strings.ToLower(target.name))
	names.variable = ""
	w.unrolledWith(target.name, word, s, p, f)
}

func (w *wordWalk) unrolledWith(name string, v value, s *stmt, p *wordPath, f *wordFrame) {
	way := p.clone()
	way.vars[name] = v
	jumps := w.jumps
	w.run(s.clauses[0].body, way, f)
	w.jumps = jumps
	if !way.ended {
		*p = *p.join(way, w.merged)
	}
}

// comparesOptions reports whether statements compare a variable with texts that begin
// with a dash.
func comparesOptions(body []*stmt, variable string) bool {
	return slices.ContainsFunc(body, func(s *stmt) bool {
		return slices.ContainsFunc(s.clauses, func(c clause) bool {
			of := c.value.any(func(n *node) bool { return dotted(n) == variable })
			dashed := c.value.any(func(n *node) bool {
				text, _ := n.value.(string)
				return n.kind == nConst && isFlag(text)
			})
			return of && dashed || comparesOptions(c.body, variable)
		})
	})
}
