package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// Runs reports whether the module does something when it is run, beyond defining names
// for others to import. A source that cannot be read runs.
func (m *Module) Runs() bool {
	if !m.parse() {
		return true
	}
	own := map[string]bool{}
	for _, n := range m.tree.Body {
		if n.Kind == syntax.FunctionDeclaration {
			own[n.Function.Name] = true
		}
	}
	acts, exports := false, false
	for _, n := range m.tree.Body {
		acts = acts || statementActs(n, own)
		exports = exports || n.Kind == syntax.Export || n.Kind == syntax.FunctionDeclaration || n.Kind == syntax.ClassDeclaration || n.Kind == syntax.Expression
	}
	return acts || !exports
}

// statementActs reports whether a statement at the top of a module is a reason to run
// it. Own are the module's functions.
func statementActs(n *syntax.Node, own map[string]bool) bool {
	switch n.Kind {
	case syntax.Import:
		return n.Imports == nil && strings.HasPrefix(n.Name, ".") // another module that does something
	case syntax.FunctionDeclaration, syntax.ClassDeclaration, syntax.Export, syntax.Empty:
		return false
	case syntax.Variable:
		return n.Any(func(n *syntax.Node) bool {
			return n.Kind == syntax.Call && n.Kids[0].Kind == syntax.Name && own[n.Kids[0].Name]
		})
	case syntax.Expression:
		e := n.Kids[0]
		if e.Kind == syntax.Assign {
			target := e.Kids[0].Dotted()
			if target == "module.exports" || strings.HasPrefix(target, "module.exports.") || strings.HasPrefix(target, "exports.") {
				return false
			}
		}
		return e.Kind != syntax.String && e.Dotted() == "" && !isDefinition(e)
	}
	return true
}

// isDefinition reports whether an expression prepares for others: Object.defineProperty
// of the exports, or the loading of a configuration.
func isDefinition(n *syntax.Node) bool {
	if n.Kind != syntax.Call {
		return false
	}
	switch n.Kids[0].Dotted() {
	case "Object.defineProperty":
		return len(n.Kids) > 1 && strings.HasSuffix(n.Kids[1].Dotted(), "exports")
	case "dotenv.config", "config":
		return true
	}
	return false
}
