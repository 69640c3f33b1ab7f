package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
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
		switch s.Kind {
		case syntax.DefStmt:
			defined[s.Function.Name] = true
		case syntax.ClassStmt:
			defined[s.Class.Name] = false
		}
	}
	return len(defined) == 0 && !slices.ContainsFunc(body, tested) || slices.ContainsFunc(body, func(s *syntax.Stmt) bool { return acts(s, defined) })
}

// tested reports whether a statement at the top of a module, or in its main guard,
// runs the tests of the file.
func tested(s *syntax.Stmt) bool {
	return (s.Kind == syntax.ExprStmt || s.Kind == syntax.RaiseStmt) && runsTests(s.Value) || s.Name == "if" && slices.ContainsFunc(s.Clauses[0].Body, tested)
}

// runsTests reports whether an expression is a call that runs tests, or exits with
// its result.
func runsTests(n *syntax.Node) bool {
	if !isCall(n) {
		return false
	}
	switch syntax.Dotted(n.Kids[0]) {
	case "unittest.main", "pytest.main", "doctest.testmod":
		return true
	case "sys.exit", "exit", "SystemExit":
		return slices.ContainsFunc(n.Kids[1:], runsTests)
	}
	return false
}

// acts reports whether a statement at the top of a module is a reason to run it.
// Defined are the module's functions and classes; true for a function.
func acts(s *syntax.Stmt, defined map[string]bool) bool {
	calls := func(wanted func(name string) bool) func(*syntax.Node) bool {
		return func(n *syntax.Node) bool { return isCall(n) && n.Kids[0].Kind == syntax.Name && wanted(n.Kids[0].Name) }
	}
	switch s.Kind {
	case syntax.ImportStmt, syntax.DefStmt, syntax.ClassStmt, syntax.GlobalStmt, syntax.JumpStmt:
		return false
	case syntax.RaiseStmt:
		return s.Value.Any(nestsCalls) && !runsTests(s.Value)
	case syntax.AssignStmt, syntax.AugmentStmt:
		return s.Value.Any(calls(func(name string) bool { return defined[name] }))
	case syntax.ExprStmt:
		return !isIdle(s.Value)
	case syntax.CompoundStmt:
		ownCall := calls(func(name string) bool { _, own := defined[name]; return own })
		return s.Name != "if" && s.Name != "try" || slices.ContainsFunc(s.Clauses, func(c syntax.Clause) bool { // handlers only cope with missing modules
			return c.Word != "except" && (c.Value.Any(ownCall) || slices.ContainsFunc(c.Body, func(s *syntax.Stmt) bool { return acts(s, defined) }))
		})
	}
	return true
}

// isIdle reports whether an expression is a text, or a call that prepares.
func isIdle(n *syntax.Node) bool {
	if n.Kind == syntax.Const || n.Kind == syntax.FString || n.Kind == syntax.Name || runsTests(n) {
		return true
	}
	if !isCall(n) {
		return false
	}
	switch syntax.Dotted(n.Kids[0]) {
	case "print", "exit", "quit", "sys.exit", "os._exit", "sys.stderr.write", "sys.stdout.write": // it may say that it is no program
		return !slices.ContainsFunc(n.Kids[1:], func(arg *syntax.Node) bool {
			return !(arg.Kind == syntax.Keyword && arg.Name == "file") && arg.Any(computes)
		})
	case "sys.path.insert", "sys.path.append", "sys.path.extend", "site.addsitedir", "logging.basicConfig", "logger.setLevel",
		"load_dotenv", "dotenv.load_dotenv", "warnings.filterwarnings", "warnings.simplefilter",
		"matplotlib.use", "plt.switch_backend", "nest_asyncio.apply", "__all__.append", "__all__.extend":
		return true
	}
	return false
}

func isCall(n *syntax.Node) bool { return n != nil && n.Kind == syntax.Call }

// nestsCalls reports whether a node is a call with another call in it.
func nestsCalls(n *syntax.Node) bool {
	return isCall(n) && slices.ContainsFunc(n.Kids, func(kid *syntax.Node) bool { return kid.Any(isCall) })
}

// computes reports whether a node is a call or a variable.
func computes(n *syntax.Node) bool {
	return isCall(n) || n.Kind == syntax.Comprehension || n.Kind == syntax.Name && !strings.HasPrefix(n.Name, "__")
}
