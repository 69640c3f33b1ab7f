package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
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
		e.unread = &Note{a.line, "the class " + c.Name + " declares arguments, which is not followed"}
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
	if e.calls >= maxCalls || !e.charge(len(fn.Params)+1) {
		e.giveAway(a)
		return unknown{}
	}
	fn.called = true
	f := &frame{scope: newScope(fn.scope)}
	e.bindParameters(fn, a, f.scope)
	e.calls++
	e.run(fn.Block(), f)
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
				v, given = e.eval(p.Fallback, fn.scope), true
			}
			if !given {
				v = unknown{}
			}
			inner.vars[p.Name] = v
		}
		e.words.named(inner.vars[p.Name], p.Name)
	}
}

// run executes statements.
func (e *evaluator) run(body []*syntax.Stmt, f *frame) {
	for _, s := range body {
		if f.ended || f.jumped != "" || e.words.path.ended || !e.charge(1) {
			return
		}
		e.execute(s, f)
	}
}

// runMaybe executes statements of which a run may leave out any.
func (e *evaluator) runMaybe(body []*syntax.Stmt, f *frame) {
	e.unsure++
	ended := f.ended
	before := e.words.path.clone()
	e.run(body, f)
	f.ended, f.jumped = ended, ""
	e.unsure--
	e.words.path = e.words.path.join(before)
}

func (e *evaluator) execute(s *syntax.Stmt, f *frame) {
	switch s.Kind {
	case syntax.ExprStmt:
		e.expression(s.Value, f)
	case syntax.AssignStmt:
		v := e.eval(s.Value, f.scope)
		for _, target := range s.Targets {
			e.bind(target, v, f.scope)
		}
	case syntax.AugmentStmt:
		right, target := e.eval(s.Value, f.scope), s.Targets[0]
		left := e.eval(target, f.scope)
		e.words.spend(s.Line, left, right)
		e.bind(target, e.operate(s.Name, left, right), f.scope)
	case syntax.ReturnStmt:
		var v value = syntax.None{}
		if s.Value != nil {
			v = e.eval(s.Value, f.scope)
		}
		e.giveBack(f, v)
	case syntax.RaiseStmt:
		e.eval(s.Value, f.scope)
		f.ended, e.words.path.ended = true, true
	case syntax.JumpStmt:
		f.jumped = s.Name
	case syntax.ImportStmt:
		bindImports(s, f.scope)
	case syntax.DefStmt:
		fn := e.functions.of(s.Function)
		fn.scope = f.scope
		var v value = fn
		if command := e.library.decorate(fn, f.scope); command != nil {
			v = command
		}
		e.assign(f.scope, fn.Name, v)
	case syntax.ClassStmt:
		e.defineClass(s.Class, f.scope)
	case syntax.GlobalStmt:
		if f.scope.globals == nil {
			f.scope.globals = map[string]bool{}
		}
		for _, name := range s.Names {
			f.scope.globals[name] = s.Name == "global"
		}
	case syntax.OpaqueStmt:
		e.words.fail(s.Line, "a statement could not be read")
		if e.stray == nil && slices.ContainsFunc(s.Tokens, func(t syntax.Token) bool { return t.Kind == syntax.NameToken && declares(t.Text) }) {
			e.stray = &Note{s.Line, "a statement that declares arguments could not be read"}
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
func (e *evaluator) compound(s *syntax.Stmt, f *frame) {
	switch s.Name {
	case "if":
		e.branch(s.Clauses, f)
		return
	case "for":
		e.loop(s, f)
		return
	}
	if e.compoundWords(s, f) {
		return
	}
	e.eval(s.Value, f.scope)
	for _, c := range s.Clauses {
		e.eval(c.Value, f.scope)
		if s.Name == "while" || c.Word == "except" || c.Word == "case" {
			e.runMaybe(c.Body, f)
		} else {
			e.run(c.Body, f)
		}
	}
}

// loop goes through a list that is known, and once through the body of any other
// loop, which may happen.
func (e *evaluator) loop(s *syntax.Stmt, f *frame) {
	round := s.Clauses[0]
	over := e.eval(round.Value, f.scope)
	over = e.loopWords(s, over, f)
	items, ok := iterable(over)
	if !ok || len(items) > maxUnroll {
		if w, is := over.(word); is {
			f.scope.vars[s.Targets[0].Name] = w
		} else {
			e.bind(s.Targets[0], unknown{}, f.scope)
		}
		e.runMaybe(round.Body, f)
		items = nil
	}
	for _, item := range items {
		e.bind(s.Targets[0], item, f.scope)
		e.run(round.Body, f)
		jumped := f.jumped
		f.jumped = ""
		if jumped == "break" && e.unsure == 0 {
			return
		}
		if f.ended {
			return
		}
	}
	for _, otherwise := range s.Clauses[1:] {
		e.run(otherwise.Body, f)
	}
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
		e.words.setAttribute(e.eval(target, s), target, v)
		e.setAttribute(e.eval(target.Kids[0], s), target.Name, v, target.Line)
	case syntax.Subscript:
		object := e.eval(target.Kids[0], s)
		e.words.spend(target.Line, object, v)
		m, ok := object.(*mapping)
		if ok && e.unsure == 0 && len(m.keys) < maxItems {
			m.set(e.eval(target.Kids[1], s), v)
		}
	}
}

// bindImports gives imported names their values.
func bindImports(s *syntax.Stmt, scope *scope) {
	for _, name := range s.Imports {
		if name.Name != "*" {
			scope.vars[name.Name] = wellKnown(name.Path)
		}
	}
}

// defineClass executes the body of a class, and adds what it inherits.
func (e *evaluator) defineClass(def *syntax.Class, s *scope) {
	c := &class{Class: def, members: map[string]value{}}
	inner := &scope{vars: c.members, outer: s}
	e.run(c.Body, &frame{scope: inner})
	for _, member := range c.members {
		if fn, ok := member.(*function); ok && fn.scope == inner {
			fn.scope = s
		}
	}
	for _, base := range c.Bases {
		if base.Kind != syntax.Keyword {
			c.inherit(e.reading, e.eval(base, s))
		}
	}
	c.addFields(c.Body)
	e.assign(s, c.Name, c)
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
func (c *class) addFields(body []*syntax.Stmt) {
	for _, s := range body {
		if s.Note == nil || len(s.Targets) != 1 || s.Targets[0].Kind != syntax.Name || strings.HasPrefix(s.Targets[0].Name, "_") {
			continue
		}
		same := func(other *syntax.Stmt) bool { return other.Targets[0].Name == s.Targets[0].Name }
		if at := slices.IndexFunc(c.fields, same); at >= 0 {
			c.fields[at] = s
		} else if len(c.fields) < maxArguments {
			c.fields = append(c.fields, s)
		}
	}
}
