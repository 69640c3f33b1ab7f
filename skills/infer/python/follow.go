package python

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A frame is one execution of a function's body.
type frame struct {
	eval   *evaluator
	scope  *scope
	result value     // of return; nil without one
	path   *wordPath // to its returns; nil without one
	ended  bool      // by return, raise or sys.exit
	jumped string    // "break" or "continue"
}

// run executes statements.
func (f *frame) run(body []*syntax.Stmt) {
	for _, s := range body {
		if f.ended || f.jumped != "" || f.eval.words.path.ended || !f.eval.charge(1) {
			return
		}
		f.execute(s)
	}
}

// runMaybe executes statements of which a run may leave out any.
func (f *frame) runMaybe(body []*syntax.Stmt) {
	f.eval.unsure++
	ended := f.ended
	before := f.eval.words.path.clone()
	f.run(body)
	f.ended, f.jumped = ended, ""
	f.eval.unsure--
	f.eval.words.path = f.eval.words.path.join(before)
}

func (f *frame) execute(s *syntax.Stmt) {
	switch s.Kind {
	case syntax.ExprStmt:
		f.expression(s.Value)
	case syntax.AssignStmt:
		v := f.eval.value(s.Value, f.scope)
		for _, target := range s.Targets {
			f.eval.bind(target, v, f.scope)
		}
	case syntax.AugmentStmt:
		right, target := f.eval.value(s.Value, f.scope), s.Targets[0]
		left := f.eval.value(target, f.scope)
		f.eval.words.spend(s.Line, left, right)
		f.eval.bind(target, f.eval.builtins.operate(s.Name, left, right), f.scope)
	case syntax.ReturnStmt:
		var v value = syntax.None{}
		if s.Value != nil {
			v = f.eval.value(s.Value, f.scope)
		}
		f.giveBack(v)
	case syntax.RaiseStmt:
		f.eval.value(s.Value, f.scope)
		f.ended, f.eval.words.path.ended = true, true
	case syntax.JumpStmt:
		f.jumped = s.Name
	case syntax.ImportStmt:
		bindImports(s, f.scope)
	case syntax.DefStmt:
		fn := f.eval.functions.get(s.Function)
		fn.scope = f.scope
		f.eval.assign(f.scope, fn.Name, fn)
	case syntax.ClassStmt:
		f.defineClass(s.Class)
	case syntax.GlobalStmt:
		if f.scope.globals == nil {
			f.scope.globals = map[string]bool{}
		}
		for _, name := range s.Names {
			f.scope.globals[name] = s.Name == "global"
		}
	case syntax.OpaqueStmt:
		f.eval.words.fail(s.Line, "a statement could not be read")
		if f.eval.stray == nil && slices.ContainsFunc(s.Tokens, func(t syntax.Token) bool { return t.Kind == syntax.NameToken && declares(t.Text) }) {
			f.eval.stray = noteOn(s.Line, "a statement that declares arguments could not be read")
		}
	default:
		f.compound(s)
	}
}

// giveBack takes the value of a return. Of several returns, those of None are for
// errors.
func (f *frame) giveBack(v value) {
	switch {
	case f.result == nil || isNone(f.result):
		f.result = v
	case !isNone(v) && v != f.result:
		f.result = f.eval.words.merged(unknown{}, v)
	}
	f.path = f.path.join(f.eval.words.path.clone())
	f.ended, f.eval.words.path.ended = true, true
}

// compound executes a statement with blocks.
func (f *frame) compound(s *syntax.Stmt) {
	switch s.Name {
	case "if":
		f.branch(s.Clauses)
		return
	case "for":
		f.loop(s)
		return
	}
	if f.compoundWords(s) {
		return
	}
	f.eval.value(s.Value, f.scope)
	for _, c := range s.Clauses {
		f.eval.value(c.Value, f.scope)
		if s.Name == "while" || c.Word == "except" || c.Word == "case" {
			f.runMaybe(c.Body)
		} else {
			f.run(c.Body)
		}
	}
}

// loop goes through a list that is known, and once through the body of any other
// loop, which may happen.
func (f *frame) loop(s *syntax.Stmt) {
	round := s.Clauses[0]
	over := f.eval.value(round.Value, f.scope)
	over = f.loopWords(s, over)
	items, ok := iterable(over)
	if !ok || len(items) > maxUnroll {
		if w, is := over.(word); is {
			f.scope.vars[s.Targets[0].Name] = w
		} else {
			f.eval.bind(s.Targets[0], unknown{}, f.scope)
		}
		f.runMaybe(round.Body)
		items = nil
	}
	for _, item := range items {
		f.eval.bind(s.Targets[0], item, f.scope)
		f.run(round.Body)
		jumped := f.jumped
		f.jumped = ""
		if jumped == "break" && f.eval.unsure == 0 {
			return
		}
		if f.ended {
			return
		}
	}
	for _, otherwise := range s.Clauses[1:] {
		f.run(otherwise.Body)
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
func (f *frame) defineClass(def *syntax.Class) {
	c := &class{Class: def, members: map[string]value{}}
	inner := &scope{vars: c.members, outer: f.scope}
	(&frame{eval: f.eval, scope: inner}).run(c.Body)
	for _, member := range c.members {
		if fn, ok := member.(*function); ok && fn.scope == inner {
			fn.scope = f.scope
		}
	}
	for _, base := range c.Bases {
		if base.Kind != syntax.Keyword {
			c.inherit(f.eval.reading, f.eval.value(base, f.scope))
		}
	}
	c.addFields(c.Body)
	f.eval.assign(f.scope, c.Name, c)
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

// branch executes the clauses of an if on the ways on which their conditions are
// true. A clause that tells a person about a mistake has none.
func (f *frame) branch(clauses []syntax.Clause) {
	w, certain, asked := f.eval.words, f.eval.unsure, f.eval.words.asked
	result, rest := &wordPath{ended: true}, w.path.clone()
	for _, c := range clauses {
		yes := rest
		w.path = rest
		if rest = (&wordPath{ended: true}); c.Value != nil {
			yes, rest = f.eval.divide(c.Value, f.scope)
		}
		if w.path = yes; !yes.ended && !(w.asked > asked && f.scope.refuses(c.Body)) {
			if !rest.ended {
				f.eval.unsure++
			}
			ended := f.ended
			f.run(c.Body)
			if w.path.ended || f.eval.unsure > certain {
				f.ended = ended
			}
			result = result.join(w.path)
		}
	}
	f.eval.unsure = certain
	w.path = result.join(rest)
}

// compoundWords executes a statement with blocks that may leave out some; ok is false
// for another.
func (f *frame) compoundWords(s *syntax.Stmt) (ok bool) {
	switch s.Name {
	case "try":
		f.try(s)
		return true
	case "while":
		f.eval.words.spend(s.Line, f.eval.value(s.Clauses[0].Value, f.scope))
		f.forget(s)
	case "match":
		if isOfWords(f.eval.value(s.Value, f.scope)) {
			f.eval.words.fail(s.Line, "it matches its arguments with patterns")
		}
	}
	return false
}

// forget drops the values of variables that a loop's body sets: those of another round
// are not known.
func (f *frame) forget(s *syntax.Stmt) {
	each(s.Clauses[0].Body, func(s *syntax.Stmt) {
		for _, target := range s.Targets {
			target.Any(func(n *syntax.Node) bool {
				before, set := f.scope.vars[n.Name]
				if _, is := before.(argvector); is && n.Kind == syntax.Name {
					f.eval.words.fail(s.Line, "it goes through its arguments in a loop")
				} else if set && n.Kind == syntax.Name {
					f.scope.vars[n.Name] = unknown{}
				}
				return false
			})
		}
	})
}

// try executes a try statement. A handler that goes on makes words optional.
func (f *frame) try(s *syntax.Stmt) {
	w := f.eval.words
	before := w.path.clone()
	goesOn := slices.ContainsFunc(s.Clauses[1:], func(c syntax.Clause) bool {
		return c.Word == "except" && catches(c.Value, "ValueError", "Exception", "BaseException", "TypeError") && !f.scope.refuses(c.Body)
	})
	if goesOn {
		w.trying++
	}
	f.run(s.Clauses[0].Body)
	if goesOn {
		w.trying--
	}
	result := w.path
	for _, c := range s.Clauses[1:] {
		switch {
		case c.Word != "except":
			w.path = result
			f.run(c.Body)
			result = w.path
		case !f.scope.refuses(c.Body):
			w.path = before.clone()
			if !catches(c.Value, "IndexError", "Exception", "BaseException", "LookupError", "ValueError") && !result.ended { // the words were there
				w.path.least = result.least
			}
			f.eval.unsure++
			ended := f.ended
			f.run(c.Body)
			f.ended, f.jumped = ended, ""
			f.eval.unsure--
			result = result.join(w.path)
		}
	}
	w.path = result
}

// catches reports whether a handler is for one of some errors.
func catches(n *syntax.Node, errors ...string) bool {
	return n == nil || n.Any(func(n *syntax.Node) bool { return slices.Contains(errors, n.Name) })
}

// loopWords returns the value that a loop goes over: of an argvector the word that is
// each.
func (f *frame) loopWords(s *syntax.Stmt, over value) value {
	argv, is := over.(argvector)
	target := s.Targets[0]
	switch {
	case !is:
		if _, known := iterable(over); !known {
			f.forget(s)
		}
		return over
	case target.Kind != syntax.Name || len(s.Clauses) > 1:
		f.eval.words.fail(s.Line, "it loops over its arguments in a way that is not known")
	case comparesOptions(s.Clauses[0].Body, target.Name):
		f.eval.words.fail(s.Line, "it looks for options in a loop")
	}
	v := f.eval.words.list(argv, false, s.Line)
	if each, ok := v.(word); ok {
		names := &f.eval.words.place(each, s.Line).names
		names.weak, names.variable = cmp.Or(names.variable, strings.ToLower(target.Name)), ""
	}
	return v
}

// comparesOptions reports whether statements compare a variable with texts that begin
// with a dash.
func comparesOptions(body []*syntax.Stmt, variable string) bool {
	return slices.ContainsFunc(body, func(s *syntax.Stmt) bool {
		return slices.ContainsFunc(s.Clauses, func(c syntax.Clause) bool {
			of := c.Value.Any(func(n *syntax.Node) bool { return syntax.Dotted(n) == variable })
			dashed := c.Value.Any(func(n *syntax.Node) bool {
				text, _ := n.Value.(string)
				return n.Kind == syntax.Const && isFlag(text)
			})
			return of && dashed || comparesOptions(c.Body, variable)
		})
	})
}

// expression executes an expression, or del of one.
func (f *frame) expression(n *syntax.Node) {
	if n.Kind == syntax.Subscript && isOfWords(f.eval.value(n.Kids[0], f.scope)) {
		f.eval.words.fail(n.Line, "it changes the list of its arguments")
	}
	f.eval.value(n, f.scope)
}

// runUncalled follows each function of a script that nobody calls here: an
// installer's entry point may.
func (e *evaluator) runUncalled(body []*syntax.Stmt) {
	for _, s := range body {
		fn := e.functions.of[s.Function]
		if fn == nil || fn.scope == nil || fn.called || !fn.relevant {
			continue
		}
		inner := newScope(fn.scope)
		for _, p := range fn.Params {
			inner.vars[p.Name] = unknown{parameter: true}
			if p.Fallback != nil {
				inner.vars[p.Name] = e.value(p.Fallback, fn.scope)
			}
		}
		(&frame{eval: e, scope: inner}).run(fn.Block())
	}
}

// runModule executes a module as the script that is run.
func (e *evaluator) runModule(body []*syntax.Stmt) {
	e.globals.vars["__name__"] = "__main__"
	e.globals.vars["__file__"] = unknown{}
	e.globals.vars["__doc__"] = syntax.None{}
	if len(body) > 0 && syntax.Docstring(body[:1]) != "" {
		e.globals.vars["__doc__"] = body[0].Value.Value
	}
	(&frame{eval: e, scope: e.globals}).run(body)
}
