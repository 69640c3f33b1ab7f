package python

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
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
func (e *evaluator) branch(clauses []syntax.Clause, f *frame) {
	w, certain, asked := e.words, e.unsure, e.words.asked
	result, rest := &wordPath{ended: true}, w.path.clone()
	for _, c := range clauses {
		yes := rest
		w.path = rest
		if rest = (&wordPath{ended: true}); c.Value != nil {
			yes, rest = e.divide(c.Value, f.scope)
		}
		if w.path = yes; !yes.ended && !(w.asked > asked && e.refuses(c.Body, f.scope)) {
			if !rest.ended {
				e.unsure++
			}
			ended := f.ended
			e.run(c.Body, f)
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
func (e *evaluator) compoundWords(s *syntax.Stmt, f *frame) (ok bool) {
	switch s.Name {
	case "try":
		e.try(s, f)
		return true
	case "while":
		e.words.spend(s.Line, e.eval(s.Clauses[0].Value, f.scope))
		e.forget(s, f.scope)
	case "match":
		if isOfWords(e.eval(s.Value, f.scope)) {
			e.words.fail(s.Line, "it matches its arguments with patterns")
		}
	}
	return false
}

// forget drops the values of variables that a loop's body sets: those of another round
// are not known.
func (e *evaluator) forget(s *syntax.Stmt, scope *scope) {
	each(s.Clauses[0].Body, func(s *syntax.Stmt) {
		for _, target := range s.Targets {
			target.Any(func(n *syntax.Node) bool {
				before, set := scope.vars[n.Name]
				if _, is := before.(argvector); is && n.Kind == syntax.Name {
					e.words.fail(s.Line, "it goes through its arguments in a loop")
				} else if set && n.Kind == syntax.Name {
					scope.vars[n.Name] = unknown{}
				}
				return false
			})
		}
	})
}

// try executes a try statement. A handler that goes on makes words optional.
func (e *evaluator) try(s *syntax.Stmt, f *frame) {
	w := e.words
	before := w.path.clone()
	goesOn := slices.ContainsFunc(s.Clauses[1:], func(c syntax.Clause) bool {
		return c.Word == "except" && catches(c.Value, "ValueError", "Exception", "BaseException", "TypeError") && !e.refuses(c.Body, f.scope)
	})
	if goesOn {
		w.trying++
	}
	e.run(s.Clauses[0].Body, f)
	if goesOn {
		w.trying--
	}
	result := w.path
	for _, c := range s.Clauses[1:] {
		switch {
		case c.Word != "except":
			w.path = result
			e.run(c.Body, f)
			result = w.path
		case !e.refuses(c.Body, f.scope):
			w.path = before.clone()
			if !catches(c.Value, "IndexError", "Exception", "BaseException", "LookupError", "ValueError") && !result.ended { // the words were there
				w.path.least = result.least
			}
			e.unsure++
			ended := f.ended
			e.run(c.Body, f)
			f.ended, f.jumped = ended, ""
			e.unsure--
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
func (e *evaluator) loopWords(s *syntax.Stmt, over value, f *frame) value {
	argv, is := over.(argvector)
	target := s.Targets[0]
	switch {
	case !is:
		if _, known := iterable(over); !known {
			e.forget(s, f.scope)
		}
		return over
	case target.Kind != syntax.Name || len(s.Clauses) > 1:
		e.words.fail(s.Line, "it loops over its arguments in a way that is not known")
	case comparesOptions(s.Clauses[0].Body, target.Name):
		e.words.fail(s.Line, "it looks for options in a loop")
	}
	v := e.words.list(argv, false, s.Line)
	if each, ok := v.(word); ok {
		names := &e.words.place(each, s.Line).names
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

// convertAll evaluates [f(a) for a in sys.argv[1:]].
func (e *evaluator) convertAll(n *syntax.Node, v argvector, s *scope) value {
	conditions, _ := n.Value.([]*syntax.Node)
	if len(n.Kids) > 3 || len(conditions) > 0 || n.Kids[1].Kind != syntax.Name || v == 0 {
		e.words.fail(n.Line, "it computes a list of its arguments")
		return unknown{}
	}
	inner := newScope(s)
	inner.vars[n.Kids[1].Name] = e.words.list(v, false, n.Line)
	return e.eval(n.Kids[0], inner)
}

// operateWords evaluates a binary operator.
func (e *evaluator) operateWords(n *syntax.Node, a, b value) value {
	if _, is := b.(argvector); is && (n.Name == "in" || n.Name == "not in") {
		return e.words.find(a, n.Line)
	}
	e.words.spend(n.Line, a, b)
	return e.operate(n.Name, a, b)
}

// ternary evaluates a conditional expression.
func (e *evaluator) ternary(n *syntax.Node, s *scope) value {
	w, asked := e.words, e.words.asked
	yes, no := e.divide(n.Kids[0], s)
	var a, b value
	if w.path = yes; !yes.ended {
		a = e.eval(n.Kids[1], s)
	}
	yes = w.path
	if w.path = no; !no.ended {
		b = e.eval(n.Kids[2], s)
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
func (e *evaluator) boolean(n *syntax.Node, s *scope) value {
	w := e.words
	before := w.path.clone()
	left := e.eval(n.Kids[0], s)
	if a, is := left.(*wordOption); is && n.Name == "or" {
		if b, is := e.eval(n.Kids[1], s).(*wordOption); is {
			return w.unite(a, b)
		}
		return unknown{}
	}
	w.path = before
	yes, no := e.divide(n.Kids[0], s)
	if n.Name == "or" {
		yes, no = no, yes // where the right side is evaluated, and where it is not
	}
	if w.path = yes; yes.ended {
		w.path = no
		return left
	}
	right := e.eval(n.Kids[1], s)
	w.path = w.path.join(no)
	if no.ended {
		return right
	}
	if _, is := left.(argvector); is && n.Name == "or" {
		w.fail(n.Line, "which arguments it reads depends on a condition")
	}
	if n.Name == "and" {
		left = unknown{}
	}
	return e.eitherOf(left, right)
}

// unpack returns the words of an argvector for the parts of a target: "a, *rest".
func (w *wordReader) unpack(v argvector, target *syntax.Node) []value {
	var items []value
	last := len(target.Kids) - 1
	for at, kid := range target.Kids {
		if kid.Kind == syntax.Star && at == last {
			return append(items, v+argvector(at))
		} else if kid.Kind == syntax.Star {
			w.fail(target.Line, "it unpacks its arguments from both ends")
		}
		items = append(items, w.at(int64(at), v, target.Line))
	}
	w.path.limit(0, int(v)+last)
	return items
}

// setAttribute notes a value that an object takes.
func (w *wordReader) setAttribute(before value, target *syntax.Node, v value) {
	if before == argvector(0) {
		w.fail(target.Line, "it sets sys.argv")
	}
	w.named(v, target.Name)
	w.spend(target.Line, v)
}

// expression executes an expression, or del of one.
func (e *evaluator) expression(n *syntax.Node, f *frame) {
	if n.Kind == syntax.Subscript && isOfWords(e.eval(n.Kids[0], f.scope)) {
		e.words.fail(n.Line, "it changes the list of its arguments")
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
func (e *evaluator) refuses(body []*syntax.Stmt, s *scope) bool {
	told := false
	for at, st := range body {
		switch {
		case st.Kind == syntax.ExprStmt && (st.Value.Kind == syntax.Const || e.tells(st.Value, s, 0)):
			told = told || mentionsUsage(st.Value)
			if e.exits(st.Value, s) {
				return true
			}
		case st.Kind == syntax.RaiseStmt:
			return true
		case st.Kind == syntax.ReturnStmt:
			fails := st.Value != nil && (st.Value.Kind == syntax.Const && !isNone(st.Value.Value) && st.Value.Value != value(int64(0)) || e.tells(st.Value, s, 0))
			return fails || at > 0 && (st.Value == nil || st.Value.Kind == syntax.Const || st.Value.Kind == syntax.Unary)
		case st.Kind == syntax.JumpStmt && st.Name == "":
		case st.Kind == syntax.CompoundStmt && (st.Name == "for" || st.Name == "if") && at < len(body)-1 && e.showsOnly(st, s, 0):
		default:
			return false
		}
	}
	return told
}

// showsOnly reports whether a statement with blocks prints and does nothing else.
func (e *evaluator) showsOnly(st *syntax.Stmt, s *scope, depth int) bool {
	return !slices.ContainsFunc(st.Clauses, func(c syntax.Clause) bool {
		return slices.ContainsFunc(c.Body, func(st *syntax.Stmt) bool {
			return st.Kind != syntax.ExprStmt || !e.tells(st.Value, s, depth) || e.exits(st.Value, s)
		})
	})
}

// maxTold bounds the depth of functions that are looked into.
const maxTold = 8

// tells reports whether an expression prints a text, or ends the script.
func (e *evaluator) tells(n *syntax.Node, s *scope, depth int) bool {
	if !isCall(n) {
		return false
	}
	name := syntax.Dotted(n.Kids[0])
	if fn, own := s.lookup(name).(*function); own {
		return depth < maxTold && e.onlyTells(fn, s, depth+1)
	}
	switch {
	case strings.HasPrefix(name, "sys.std"), strings.HasPrefix(name, "log"), strings.HasPrefix(name, "console."):
		return true
	case name == "sys.exit", name == "exit", name == "quit", name == "os._exit":
		return !slices.ContainsFunc(n.Kids[1:], func(kid *syntax.Node) bool {
			return kid.Any(func(n *syntax.Node) bool { return isCall(n) && !e.tells(n, s, depth) && !formats(n) })
		})
	}
	return name == "print" || name == "pprint"
}

// formats reports whether a call only puts a text together.
func formats(n *syntax.Node) bool {
	switch n.Kids[0].Name {
	case "format", "join", "strip", "basename", "dedent", "len", "str", "sorted", "list", "keys", "get", "getsizeof", "Path":
		return true
	}
	return false
}

// onlyTells reports whether a function prints and does nothing else, as usage does.
func (e *evaluator) onlyTells(fn *function, s *scope, depth int) bool {
	body := fn.Block()
	return len(body) > 0 && !slices.ContainsFunc(body, func(st *syntax.Stmt) bool {
		switch st.Kind {
		case syntax.ExprStmt:
			return st.Value.Kind != syntax.Const && !e.tells(st.Value, s, depth)
		case syntax.ReturnStmt:
			return st.Value != nil && st.Value.Kind != syntax.Const
		case syntax.RaiseStmt, syntax.JumpStmt:
			return false
		case syntax.CompoundStmt:
			return !e.showsOnly(st, s, depth)
		case syntax.AssignStmt:
			return st.Value.Any(isCall) && !st.Value.Any(func(n *syntax.Node) bool { return isCall(n) && formats(n) })
		}
		return true
	})
}

// exits reports whether an expression ends the script.
func (e *evaluator) exits(n *syntax.Node, s *scope) bool {
	if !isCall(n) {
		return false
	}
	if fn, own := s.lookup(syntax.Dotted(n.Kids[0])).(*function); own {
		return slices.ContainsFunc(fn.Block(), func(st *syntax.Stmt) bool {
			return st.Kind == syntax.RaiseStmt || st.Kind == syntax.ExprStmt && isCall(st.Value) && endsScript(st.Value)
		})
	}
	return endsScript(n)
}

func endsScript(call *syntax.Node) bool {
	name := syntax.Dotted(call.Kids[0])
	return leaves(reference(name)) || leaves(reference("builtins."+name))
}

// mentionsUsage reports whether a text in an expression has the word "usage".
func mentionsUsage(n *syntax.Node) bool {
	return n.Any(func(n *syntax.Node) bool {
		text, _ := n.Value.(string)
		return n.Kind == syntax.Const && strings.Contains(strings.ToLower(text), "usage") || strings.Contains(strings.ToLower(n.Name), "usage") || n.Name == "__doc__"
	})
}
