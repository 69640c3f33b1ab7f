package python

import (
	"cmp"
	"slices"
	"strings"
)

// isOfWords reports whether a value is of the script's words.
func isOfWords(v value) bool {
	switch v.(type) {
	case argvector, word, count:
		return true
	}
	return false
}

// branch executes the clauses of an if on the ways on which their conditions are
// true. A clause that tells a person about a mistake has none.
func (e *evaluator) branch(clauses []clause, f *frame) {
	w, certain, asked := e.words, e.unsure, e.words.asked
	result, rest := &wordPath{ended: true}, w.path.clone()
	for _, c := range clauses {
		yes := rest
		w.path = rest
		if rest = (&wordPath{ended: true}); c.value != nil {
			yes, rest = e.divide(c.value, f.scope)
		}
		if w.path = yes; !yes.ended && !(w.asked > asked && e.refuses(c.body, f.scope)) {
			if !rest.ended {
				e.unsure++
			}
			ended := f.ended
			e.run(c.body, f)
			if w.path.ended || e.unsure > certain {
				f.ended = ended
			}
			result = result.join(w.path)
		}
	}
	e.unsure = certain
	w.path = result.join(rest)
}

// compoundWords executes a statement with blocks that may leave out some; ok is false
// for another.
func (e *evaluator) compoundWords(s *stmt, f *frame) (ok bool) {
	switch s.name {
	case "try":
		e.try(s, f)
		return true
	case "while":
		e.words.spend(s.line, e.eval(s.clauses[0].value, f.scope))
		e.forget(s, f.scope)
	case "match":
		if isOfWords(e.eval(s.value, f.scope)) {
			e.words.fail(s.line, "it matches its arguments with patterns")
		}
	}
	return false
}

// forget drops the values of variables that a loop's body sets: those of another round
// are not known.
func (e *evaluator) forget(s *stmt, scope *scope) {
	each(s.clauses[0].body, func(s *stmt) {
		for _, target := range s.targets {
			target.any(func(n *node) bool {
				before, set := scope.vars[n.name]
				if _, is := before.(argvector); is && n.kind == nName {
					e.words.fail(s.line, "it goes through its arguments in a loop")
				} else if set && n.kind == nName {
					scope.vars[n.name] = unknown{}
				}
				return false
			})
		}
	})
}

// try executes a try statement. A handler that goes on makes words optional.
func (e *evaluator) try(s *stmt, f *frame) {
	w := e.words
	before := w.path.clone()
	goesOn := slices.ContainsFunc(s.clauses[1:], func(c clause) bool {
		return c.word == "except" && catches(c.value, "ValueError", "Exception", "BaseException", "TypeError") && !e.refuses(c.body, f.scope)
	})
	if goesOn {
		w.trying++
	}
	e.run(s.clauses[0].body, f)
	if goesOn {
		w.trying--
	}
	result := w.path
	for _, c := range s.clauses[1:] {
		switch {
		case c.word != "except":
			w.path = result
			e.run(c.body, f)
			result = w.path
		case !e.refuses(c.body, f.scope):
			w.path = before.clone()
			if !catches(c.value, "IndexError", "Exception", "BaseException", "LookupError", "ValueError") && !result.ended { // the words were there
				w.path.least = result.least
			}
			e.unsure++
			ended := f.ended
			e.run(c.body, f)
			f.ended, f.jumped = ended, ""
			e.unsure--
			result = result.join(w.path)
		}
	}
	w.path = result
}

// catches reports whether a handler is for one of some errors.
func catches(n *node, errors ...string) bool {
	return n == nil || n.any(func(n *node) bool { return slices.Contains(errors, n.name) })
}

// loopWords returns the value that a loop goes over: of an argvector the word that is
// each.
func (e *evaluator) loopWords(s *stmt, over value, f *frame) value {
	argv, is := over.(argvector)
	target := s.targets[0]
	switch {
	case !is:
		if _, known := iterable(over); !known {
			e.forget(s, f.scope)
		}
		return over
	case target.kind != nName || len(s.clauses) > 1:
		e.words.fail(s.line, "it loops over its arguments in a way that is not known")
	case comparesOptions(s.clauses[0].body, target.name):
		e.words.fail(s.line, "it looks for options in a loop")
	}
	v := e.words.list(argv, false, s.line)
	if each, ok := v.(word); ok {
		names := &e.words.place(each, s.line).names
		names.weak, names.variable = cmp.Or(names.variable, strings.ToLower(target.name)), ""
	}
	return v
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

// convertAll evaluates [f(a) for a in sys.argv[1:]].
func (e *evaluator) convertAll(n *node, v argvector, s *scope) value {
	conditions, _ := n.value.([]*node)
	if len(n.kids) > 3 || len(conditions) > 0 || n.kids[1].kind != nName || v == 0 {
		e.words.fail(n.line, "it computes a list of its arguments")
		return unknown{}
	}
	inner := newScope(s)
	inner.vars[n.kids[1].name] = e.words.list(v, false, n.line)
	return e.eval(n.kids[0], inner)
}

// operateWords evaluates a binary operator.
func (e *evaluator) operateWords(n *node, a, b value) value {
	if _, is := b.(argvector); is && (n.name == "in" || n.name == "not in") {
		return e.words.find(a, n.line)
	}
	e.words.spend(n.line, a, b)
	return e.operate(n.name, a, b)
}

// ternary evaluates a conditional expression.
func (e *evaluator) ternary(n *node, s *scope) value {
	w, asked := e.words, e.words.asked
	yes, no := e.divide(n.kids[0], s)
	var a, b value
	if w.path = yes; !yes.ended {
		a = e.eval(n.kids[1], s)
	}
	yes = w.path
	if w.path = no; !no.ended {
		b = e.eval(n.kids[2], s)
	}
	w.path = yes.join(w.path)
	switch {
	case a == nil && b == nil:
		return unknown{}
	case a == nil:
		return b
	case b == nil:
		return a
	}
	if _, other := b.(*sequence); other && isNone(a) && w.asked > asked {
		return a // parse_args(None if sys.argv[1:] else ["--help"]): a script is called with arguments
	}
	return e.eitherOf(a, b)
}

// boolean evaluates "and" and "or".
func (e *evaluator) boolean(n *node, s *scope) value {
	w := e.words
	before := w.path.clone()
	left := e.eval(n.kids[0], s)
	if a, is := left.(*wordOption); is && n.name == "or" {
		if b, is := e.eval(n.kids[1], s).(*wordOption); is {
			return w.unite(a, b)
		}
		return unknown{}
	}
	w.path = before
	yes, no := e.divide(n.kids[0], s)
	if n.name == "or" {
		yes, no = no, yes // where the right side is evaluated, and where it is not
	}
	if w.path = yes; yes.ended {
		w.path = no
		return left
	}
	right := e.eval(n.kids[1], s)
	w.path = w.path.join(no)
	if no.ended {
		return right
	}
	if _, is := left.(argvector); is && n.name == "or" {
		w.fail(n.line, "which arguments it reads depends on a condition")
	}
	if n.name == "and" {
		left = unknown{}
	}
	return e.eitherOf(left, right)
}

// unpack returns the words of an argvector for the parts of a target: "a, *rest".
func (w *wordReader) unpack(v argvector, target *node) []value {
	var items []value
	last := len(target.kids) - 1
	for at, kid := range target.kids {
		if kid.kind == nStar && at == last {
			return append(items, v+argvector(at))
		} else if kid.kind == nStar {
			w.fail(target.line, "it unpacks its arguments from both ends")
		}
		items = append(items, w.at(int64(at), v, target.line))
	}
	w.path.limit(0, int(v)+last)
	return items
}

// setAttribute notes a value that an object takes.
func (w *wordReader) setAttribute(before value, target *node, v value) {
	if before == argvector(0) {
		w.fail(target.line, "it sets sys.argv")
	}
	w.named(v, target.name)
	w.spend(target.line, v)
}

// expression executes an expression, or del of one.
func (e *evaluator) expression(n *node, f *frame) {
	if n.kind == nSubscript && isOfWords(e.eval(n.kids[0], f.scope)) {
		e.words.fail(n.line, "it changes the list of its arguments")
	}
	e.eval(n, f.scope)
}

// ofWords evaluates a call of a function that takes the script's words, or ends the
// script.
func (r *reading) ofWords(name reference, a *arguments) (value, bool) {
	w := r.words
	if leaves(name) {
		r.giveAway(a)
		w.exit(a)
		return unknown{}, true
	}
	if v, is := a.first().(argvector); is {
		switch name {
		case "builtins.len":
			return count(v), true
		case "builtins.list", "builtins.tuple":
			return v, true
		}
	}
	if v, ok := w.convert(name, a); ok {
		return v, true
	}
	if parsesCommandLines(string(name)) {
		w.fail(a.line, string(name)+" may read the arguments")
	}
	for _, v := range a.positional {
		if argv, is := v.(argvector); is && name == "builtins.print" && argv > 0 {
			w.list(argv, false, a.line)
		} else if !is || name != "builtins.print" {
			w.spend(a.line, v)
		}
	}
	return nil, false
}

// refuses reports whether statements tell a person about a mistake, and end the script
// or the function.
func (e *evaluator) refuses(body []*stmt, s *scope) bool {
	told := false
	for at, st := range body {
		switch {
		case st.kind == sExpr && (st.value.kind == nConst || e.tells(st.value, s, 0)):
			told = told || mentionsUsage(st.value)
			if e.exits(st.value, s) {
				return true
			}
		case st.kind == sRaise:
			return true
		case st.kind == sReturn:
			fails := st.value != nil && (st.value.kind == nConst && !isNone(st.value.value) && st.value.value != value(int64(0)) || e.tells(st.value, s, 0))
			return fails || at > 0 && (st.value == nil || st.value.kind == nConst || st.value.kind == nUnary)
		case st.kind == sJump && st.name == "":
		case st.kind == sCompound && (st.name == "for" || st.name == "if") && at < len(body)-1 && e.showsOnly(st, s, 0):
		default:
			return false
		}
	}
	return told
}

// showsOnly reports whether a statement with blocks prints and does nothing else.
func (e *evaluator) showsOnly(st *stmt, s *scope, depth int) bool {
	return !slices.ContainsFunc(st.clauses, func(c clause) bool {
		return slices.ContainsFunc(c.body, func(st *stmt) bool { return st.kind != sExpr || !e.tells(st.value, s, depth) || e.exits(st.value, s) })
	})
}

// maxTold bounds the depth of functions that are looked into.
const maxTold = 8

// tells reports whether an expression prints a text, or ends the script.
func (e *evaluator) tells(n *node, s *scope, depth int) bool {
	if !isCall(n) {
		return false
	}
	name := dotted(n.kids[0])
	if fn, own := s.lookup(name).(*function); own {
		return depth < maxTold && e.onlyTells(fn, s, depth+1)
	}
	switch {
	case strings.HasPrefix(name, "sys.std"), strings.HasPrefix(name, "log"), strings.HasPrefix(name, "console."):
		return true
	case name == "sys.exit", name == "exit", name == "quit", name == "os._exit":
		return !slices.ContainsFunc(n.kids[1:], func(kid *node) bool {
			return kid.any(func(n *node) bool { return isCall(n) && !e.tells(n, s, depth) && !formats(n) })
		})
	}
	return name == "print" || name == "pprint"
}

// formats reports whether a call only puts a text together.
func formats(n *node) bool {
	switch n.kids[0].name {
	case "format", "join", "strip", "basename", "dedent", "len", "str", "sorted", "list", "keys", "get", "getsizeof", "Path":
		return true
	}
	return false
}

// onlyTells reports whether a function prints and does nothing else, as usage does.
func (e *evaluator) onlyTells(fn *function, s *scope, depth int) bool {
	body := fn.block()
	return len(body) > 0 && !slices.ContainsFunc(body, func(st *stmt) bool {
		switch st.kind {
		case sExpr:
			return st.value.kind != nConst && !e.tells(st.value, s, depth)
		case sReturn:
			return st.value != nil && st.value.kind != nConst
		case sRaise, sJump:
			return false
		case sCompound:
			return !e.showsOnly(st, s, depth)
		case sAssign:
			return st.value.any(isCall) && !st.value.any(func(n *node) bool { return isCall(n) && formats(n) })
		}
		return true
	})
}

// exits reports whether an expression ends the script.
func (e *evaluator) exits(n *node, s *scope) bool {
	if !isCall(n) {
		return false
	}
	if fn, own := s.lookup(dotted(n.kids[0])).(*function); own {
		return slices.ContainsFunc(fn.block(), func(st *stmt) bool {
			return st.kind == sRaise || st.kind == sExpr && isCall(st.value) && endsScript(st.value)
		})
	}
	return endsScript(n)
}

func endsScript(call *node) bool {
	name := dotted(call.kids[0])
	return leaves(reference(name)) || leaves(reference("builtins."+name))
}

// mentionsUsage reports whether a text in an expression has the word "usage".
func mentionsUsage(n *node) bool {
	return n.any(func(n *node) bool {
		text, _ := n.value.(string)
		return n.kind == nConst && strings.Contains(strings.ToLower(text), "usage") || strings.Contains(strings.ToLower(n.name), "usage") || n.name == "__doc__"
	})
}
