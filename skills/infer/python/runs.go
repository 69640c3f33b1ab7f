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
	return (s.kind == sExpr || s.kind == sRaise) && runsTests(s.value) || s.name == "if" && slices.ContainsFunc(s.clauses[0].body, tested)
}

// runsTests reports whether an expression is a call that runs tests, or exits with
// its result.
func runsTests(n *node) bool {
	if !isCall(n) {
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
// Defined are the module's functions and classes; true for a function.
func acts(s *stmt, defined map[string]bool) bool {
	calls := func(wanted func(name string) bool) func(*node) bool {
		return func(n *node) bool { return isCall(n) && n.kids[0].kind == nName && wanted(n.kids[0].name) }
	}
	switch s.kind {
	case sImport, sDef, sClass, sGlobal, sJump:
		return false
	case sRaise:
		return s.value.any(nestsCalls) && !runsTests(s.value)
	case sAssign, sAugment:
		return s.value.any(calls(func(name string) bool { return defined[name] }))
	case sExpr:
		return !isIdle(s.value)
	case sCompound:
		ownCall := calls(func(name string) bool { _, own := defined[name]; return own })
		return s.name != "if" && s.name != "try" || slices.ContainsFunc(s.clauses, func(c clause) bool { // handlers only cope with missing modules
			return c.word != "except" && (c.value.any(ownCall) || slices.ContainsFunc(c.body, func(s *stmt) bool { return acts(s, defined) }))
		})
	}
	return true
}

// isIdle reports whether an expression is a text, or a call that prepares.
func isIdle(n *node) bool {
	if n.kind == nConst || n.kind == nFString || n.kind == nName || runsTests(n) {
		return true
	}
	if !isCall(n) {
		return false
	}
	switch dotted(n.kids[0]) {
	case "print", "exit", "quit", "sys.exit", "os._exit", "sys.stderr.write", "sys.stdout.write": // it may say that it is no program
		return !slices.ContainsFunc(n.kids[1:], func(arg *node) bool {
			return !(arg.kind == nKeyword && arg.name == "file") && arg.any(computes)
		})
	case "sys.path.insert", "sys.path.append", "sys.path.extend", "site.addsitedir", "logging.basicConfig", "logger.setLevel",
		"load_dotenv", "dotenv.load_dotenv", "warnings.filterwarnings", "warnings.simplefilter",
		"matplotlib.use", "plt.switch_backend", "nest_asyncio.apply", "__all__.append", "__all__.extend":
		return true
	}
	return false
}

func isCall(n *node) bool { return n != nil && n.kind == nCall }

// nestsCalls reports whether a node is a call with another call in it.
func nestsCalls(n *node) bool {
	return isCall(n) && slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.any(isCall) })
}

// computes reports whether a node is a call or a variable.
func computes(n *node) bool {
	return isCall(n) || n.kind == nComprehension || n.kind == nName && !strings.HasPrefix(n.name, "__")
}

// Asks reports whether the module calls input, or another function that waits for
// somebody at a terminal. A source that cannot be read may.
func (m *Module) Asks() bool {
	body, err := m.parse()
	if err != nil {
		return true
	}
	own := map[string]bool{} // names that the module defines
	for _, s := range body {
		switch s.kind {
		case sDef:
			own[s.function.name] = true
		case sImport:
			for _, as := range s.imports {
				own[as.name] = own[as.name] || as.path != as.name && as.path != "getpass.getpass"
			}
		case sAssign:
			for _, target := range s.targets {
				own[target.name] = own[target.name] || target.kind == nName
			}
		}
	}
	for at := range m.tokens {
		name, before := m.tokens.text(at), m.tokens.text(at-1)
		if m.tokens.text(at+1) != "(" || before == "def" {
			continue
		}
		switch {
		case name == "getpass" && before == ".":
			if m.tokens.text(at-2) == "getpass" {
				return true
			}
		case name == "input", name == "raw_input", name == "getpass":
			if before != "." && !own[name] {
				return true
			}
		}
	}
	return false
}
