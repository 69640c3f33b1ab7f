package python

import (
	"slices"
	"strings"
)

// A frame is one execution of a function's body.
type frame struct {
	scope  *scope
	result value     // of return; nil without one
	path   *wordPath // to its returns; nil without one
	ended  bool      // by return, raise or sys.exit
	jumped string    // "break" or "continue"
}

// construct makes a parser of the file's own class. Of another class it executes
// the constructor; its object is not known.
func (e *evaluator) construct(c *class, a *arguments) value {
	if c.comesFrom("ArgumentParser", "argparse") {
		return e.newParser(c, a)
	}
	if c.relevant() && e.unread == nil {
		e.unread = &Note{a.line, "the class " + c.name + " declares arguments, which is not followed"}
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

// invokeFunction executes one of the file's own functions.
func (e *evaluator) invokeFunction(fn *function, a *arguments) value {
	if e.calls >= maxCalls || !e.charge(len(fn.params)+1) {
		e.giveAway(a)
		return unknown{}
	}
	fn.called = true
	f := &frame{scope: newScope(fn.scope)}
	e.bindParameters(fn, a, f.scope)
	e.calls++
	e.run(fn.block(), f)
	e.calls--
	e.words.path = e.words.path.join(f.path)
	if f.result == nil {
		return none{}
	}
	return f.result
}

// bindParameters gives a function's parameters their values.
func (e *evaluator) bindParameters(fn *function, a *arguments, inner *scope) {
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
			inner.vars[p.name] = spareKeywords(fn.params, a)
		case !p.keyword && len(rest) > 0:
			inner.vars[p.name], rest = rest[0], rest[1:]
		default:
			v, given := a.get(-1, p.name)
			if !given && !a.spread && p.fallback != nil {
				v, given = e.eval(p.fallback, fn.scope), true
			}
			if !given {
				v = unknown{}
			}
			inner.vars[p.name] = v
		}
		e.words.named(inner.vars[p.name], p.name)
	}
}

// run executes statements.
func (e *evaluator) run(body []*stmt, f *frame) {
	for _, s := range body {
		if f.ended || f.jumped != "" || e.words.path.ended || !e.charge(1) {
			return
		}
		e.execute(s, f)
	}
}

// runMaybe executes statements of which a run may leave out any.
func (e *evaluator) runMaybe(body []*stmt, f *frame) {
	e.unsure++
	ended := f.ended
	before := e.words.path.clone()
	e.run(body, f)
	f.ended, f.jumped = ended, ""
	e.unsure--
	e.words.path = e.words.path.join(before)
}

func (e *evaluator) execute(s *stmt, f *frame) {
	switch s.kind {
	case sExpr:
		e.expression(s.value, f)
	case sAssign:
		v := e.eval(s.value, f.scope)
		for _, target := range s.targets {
			e.bind(target, v, f.scope)
		}
	case sAugment:
		right, target := e.eval(s.value, f.scope), s.targets[0]
		left := e.eval(target, f.scope)
		e.words.spend(s.line, left, right)
		e.bind(target, e.operate(s.name, left, right), f.scope)
	case sReturn:
		var v value = none{}
		if s.value != nil {
			v = e.eval(s.value, f.scope)
		}
		e.giveBack(f, v)
	case sRaise:
		e.eval(s.value, f.scope)
		f.ended, e.words.path.ended = true, true
	case sJump:
		f.jumped = s.name
	case sImport:
		bindImports(s, f.scope)
	case sDef:
		fn := e.functions.of(s.function)
		fn.scope = f.scope
		var v value = fn
		if command := e.library.decorate(fn, f.scope); command != nil {
			v = command
		}
		e.assign(f.scope, fn.name, v)
	case sClass:
		e.defineClass(s.class, f.scope)
	case sGlobal:
		if f.scope.globals == nil {
			f.scope.globals = map[string]bool{}
		}
		for _, name := range s.names {
			f.scope.globals[name] = s.name == "global"
		}
	case sOpaque:
		e.words.fail(s.line, "a statement could not be read")
		if s.name != "" && e.stray == nil {
			e.stray = &Note{s.line, "a statement that declares arguments could not be read"}
		}
	default:
		e.compound(s, f)
	}
}

// giveBack takes the value of a return. Of several returns, those of None are for
// errors.
func (e *evaluator) giveBack(f *frame, v value) {
	switch {
	case f.result == nil || isNone(f.result):
		f.result = v
	case !isNone(v) && v != f.result:
		f.result = e.words.merged(unknown{}, v)
	}
	f.path = f.path.join(e.words.path.clone())
	f.ended, e.words.path.ended = true, true
}

// compound executes a statement with blocks.
func (e *evaluator) compound(s *stmt, f *frame) {
	switch s.name {
	case "if":
		e.branch(s.clauses, f)
		return
	case "for":
		e.loop(s, f)
		return
	}
	if e.compoundWords(s, f) {
		return
	}
	e.eval(s.value, f.scope)
	for _, c := range s.clauses {
		e.eval(c.value, f.scope)
		if s.name == "while" || c.word == "except" || c.word == "case" {
			e.runMaybe(c.body, f)
		} else {
			e.run(c.body, f)
		}
	}
}

// loop goes through a list that is known, and once through the body of any other
// loop, which may happen.
func (e *evaluator) loop(s *stmt, f *frame) {
	round := s.clauses[0]
	over := e.eval(round.value, f.scope)
	over = e.loopWords(s, over, f)
	items, ok := iterable(over)
	if !ok || len(items) > maxUnroll {
		if w, is := over.(word); is {
			f.scope.vars[s.targets[0].name] = w
		} else {
			e.bind(s.targets[0], unknown{}, f.scope)
		}
		e.runMaybe(round.body, f)
		items = nil
	}
	for _, item := range items {
		e.bind(s.targets[0], item, f.scope)
		e.run(round.body, f)
		jumped := f.jumped
		f.jumped = ""
		if jumped == "break" && e.unsure == 0 {
			return
		}
		if f.ended {
			return
		}
	}
	for _, otherwise := range s.clauses[1:] {
		e.run(otherwise.body, f)
	}
}

// bind assigns to a target, which may be a tuple, an attribute or an item.
func (e *evaluator) bind(target *node, v value, s *scope) {
	switch target.kind {
	case nName:
		e.assign(s, target.name, v)
	case nTuple, nList:
		items, ok := iterable(v)
		if argv, is := v.(argvector); is {
			items, ok = e.words.unpack(argv, target), true
		}
		for at, kid := range target.kids {
			if ok && len(items) == len(target.kids) && (kid.kind != nStar || isOfWords(items[at])) {
				e.bind(kid, items[at], s)
			} else {
				e.bind(kid, unknown{}, s)
			}
		}
	case nStar:
		e.bind(target.kids[0], v, s)
	case nAttribute:
		e.words.setAttribute(e.eval(target, s), target, v)
		e.setAttribute(e.eval(target.kids[0], s), target.name, v, target.line)
	case nSubscript:
		object := e.eval(target.kids[0], s)
		e.words.spend(target.line, object, v)
		m, ok := object.(*mapping)
		if ok && e.unsure == 0 && len(m.keys) < maxItems {
			m.set(e.eval(target.kids[1], s), v)
		}
	}
}

// bindImports gives imported names their values.
func bindImports(s *stmt, scope *scope) {
	for _, name := range s.imports {
		if name.name != "*" {
			scope.vars[name.name] = wellKnown(name.path)
			continue
		}
		if name.path == "argparse" {
			for _, exported := range argparseNames {
				scope.vars[exported] = wellKnown("argparse." + exported)
			}
		}
	}
}

// argparseNames are the names of argparse.__all__ that have a value here.
var argparseNames = [...]string{"ArgumentParser", "BooleanOptionalAction", "SUPPRESS", "REMAINDER", "OPTIONAL", "ZERO_OR_MORE", "ONE_OR_MORE", "FileType", "Namespace", "Action"}

// defineClass executes the body of a class, and adds what it inherits.
func (e *evaluator) defineClass(def *classDef, s *scope) {
	c := &class{classDef: def, members: map[string]value{}}
	inner := &scope{vars: c.members, outer: s}
	e.run(c.body, &frame{scope: inner})
	for _, member := range c.members {
		if fn, ok := member.(*function); ok && fn.scope == inner {
			fn.scope = s
		}
	}
	for _, base := range c.bases {
		if base.kind != nKeyword {
			c.inherit(e.reading, e.eval(base, s))
		}
	}
	c.addFields(c.body)
	e.assign(s, c.name, c)
}

// inherit adds a parent's members to a class.
func (c *class) inherit(r *reading, parent value) {
	of, ok := parent.(*class)
	if !ok {
		ref, _ := parent.(reference)
		c.ancestors = append(c.ancestors, ref)
		return
	}
	if of == c || !r.charge(len(of.members)+len(of.fields)+len(of.ancestors)) {
		return
	}
	c.ancestors = append(c.ancestors, of.ancestors...)
	c.addFields(of.fields)
	for name, member := range of.members {
		if _, own := c.members[name]; !own {
			c.members[name] = member
		}
	}
}

// addFields adds the statements that declare fields; they replace inherited ones.
func (c *class) addFields(body []*stmt) {
	for _, s := range body {
		if s.note == nil || len(s.targets) != 1 || s.targets[0].kind != nName || strings.HasPrefix(s.targets[0].name, "_") {
			continue
		}
		same := func(other *stmt) bool { return other.targets[0].name == s.targets[0].name }
		if at := slices.IndexFunc(c.fields, same); at >= 0 {
			c.fields[at] = s
		} else if len(c.fields) < maxArguments {
			c.fields = append(c.fields, s)
		}
	}
}
