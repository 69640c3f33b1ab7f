package python

import (
	"slices"
	"strings"
)

// Runs reports whether the module does something when it is run, beyond defining
// names for others to import. A main guard that only prints texts, only raises, or
// runs the tests of the file does nothing. A source that cannot be read runs.
func (m *Module) Runs() bool {
	body, err := m.parse()
	if err != nil {
		return true
	}
	defined := map[string]bool{} // whether it is a function
	for _, s := range body {
		switch s.kind {
		case sDef:
			defined[s.function.name] = true
		case sClass:
			defined[s.class.name] = false
		}
	}
	return len(defined) == 0 && !slices.ContainsFunc(body, tested) || slices.ContainsFunc(body, func(s *stmt) bool { return acts(s, defined) })
}

// tested reports whether a statement at the top of a module, or in its main guard,
// runs the tests of the file.
func tested(s *stmt) bool {
	return (s.kind == sExpr || s.kind == sRaise) && runsTests(s.value) || s.kind == sIf && slices.ContainsFunc(s.body, tested)
}

// runsTests reports whether an expression is a call that runs tests, or exits with
// its result.
func runsTests(n *node) bool {
	if n == nil || n.kind != nCall {
		return false
	}
	switch dotted(n.kids[0]) {
	case "unittest.main", "pytest.main", "doctest.testmod":
		return true
	case "sys.exit", "exit", "SystemExit":
		return slices.ContainsFunc(n.kids[1:], runsTests)
	}
	return false
}

// acts reports whether a statement at the top of a module is a reason to run it.
func acts(s *stmt, defined map[string]bool) bool {
	inner := func(s *stmt) bool { return acts(s, defined) }
	switch s.kind {
	case sImport, sDef, sClass, sGlobal, sRaise, sJump:
		return s.value != nil && calls(s.value, 1) && !runsTests(s.value)
	case sAssign, sAugment:
		return s.value != nil && callsAny(s.value, func(name string) bool { return defined[name] })
	case sExpr:
		return !isIdle(s.value)
	case sIf, sTry: // handlers only cope with missing modules
		return s.value != nil && tests(s.value, defined) || slices.ContainsFunc(s.body, inner) || slices.ContainsFunc(s.other, inner) || slices.ContainsFunc(s.final, inner)
	}
	return true
}

// isIdle reports whether an expression is a text, or a call that prepares.
func isIdle(n *node) bool {
	if n == nil || n.kind == nConst || n.kind == nFString || n.kind == nName || runsTests(n) {
		return true
	}
	if n.kind != nCall {
		return false
	}
	switch dotted(n.kids[0]) {
	case "print", "exit", "quit", "sys.exit", "os._exit", "sys.stderr.write", "sys.stdout.write": // it may say that it is no program
		return !slices.ContainsFunc(n.kids[1:], computes)
	case "sys.path.insert", "sys.path.append", "sys.path.extend", "site.addsitedir", "logging.basicConfig", "logger.setLevel",
		"load_dotenv", "dotenv.load_dotenv", "warnings.filterwarnings", "warnings.simplefilter",
		"matplotlib.use", "plt.switch_backend", "nest_asyncio.apply", "__all__.append", "__all__.extend":
		return true
	}
	return false
}

// computes reports whether an expression has a call or a variable in it.
func computes(n *node) bool {
	switch {
	case n == nil:
		return false
	case n.kind == nKeyword && n.name == "file": // of print
		return false
	case n.kind == nName:
		return !strings.HasPrefix(n.name, "__")
	}
	return n.kind == nCall || n.kind == nComprehension || slices.ContainsFunc(n.kids, computes)
}

// calls reports whether an expression has more than n calls, one in the other.
func calls(e *node, n int) bool {
	if e == nil || e.kind == nLambda {
		return false
	}
	if e.kind == nCall {
		if n--; n < 0 {
			return true
		}
	}
	return slices.ContainsFunc(e.kids, func(kid *node) bool { return calls(kid, n) })
}

// tests reports whether a condition uses one of the module's own definitions.
func tests(condition *node, defined map[string]bool) bool {
	return callsAny(condition, func(name string) bool { _, ok := defined[name]; return ok })
}

// callsAny reports whether an expression calls something that is wanted by name.
func callsAny(e *node, wanted func(name string) bool) bool {
	if e == nil || e.kind == nLambda {
		return false
	}
	if e.kind == nCall && e.kids[0].kind == nName && wanted(e.kids[0].name) {
		return true
	}
	return slices.ContainsFunc(e.kids, func(kid *node) bool { return callsAny(kid, wanted) })
}

// Asks reports whether the module calls input, or another function that waits for
// somebody at a terminal. A source that cannot be read may.
func (m *Module) Asks() bool {
	body, err := m.parse()
	if err != nil {
		return true
	}
	a := &asking{own: map[string]bool{}}
	a.define(body)
	return a.statements(body)
}

// asking looks for calls. Names that the module defines are its own.
type asking struct{ own map[string]bool }

func (a *asking) define(body []*stmt) {
	for _, s := range body {
		switch s.kind {
		case sDef:
			a.own[s.function.name] = true
		case sImport:
			for _, as := range s.imports {
				a.own[as.name] = a.own[as.name] || as.path != as.name && as.path != "getpass.getpass"
			}
		case sAssign:
			for _, target := range s.targets {
				a.own[target.name] = a.own[target.name] || target.kind == nName
			}
		}
	}
}

func (a *asking) statements(body []*stmt) bool { return slices.ContainsFunc(body, a.statement) }

func (a *asking) statement(s *stmt) bool {
	if a.calls(s.value) || slices.ContainsFunc(s.items, a.calls) || slices.ContainsFunc(s.handlers, a.statements) {
		return true
	}
	if s.function != nil && a.statements(s.function.body) || s.class != nil && a.statements(s.class.body) {
		return true
	}
	return a.statements(s.body) || a.statements(s.other) || a.statements(s.final)
}

func (a *asking) calls(e *node) bool {
	if e == nil {
		return false
	}
	if e.kind == nCall {
		switch name := dotted(e.kids[0]); name {
		case "input", "raw_input", "getpass":
			if !a.own[name] {
				return true
			}
		case "getpass.getpass":
			return true
		}
	}
	if fn, ok := e.value.(*function); ok && e.kind == nLambda && a.statements(fn.body) {
		return true
	}
	return slices.ContainsFunc(e.kids, a.calls)
}
