package node

import (
	"slices"
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

// isAsking reports whether a module asks somebody at a terminal.
func isAsking(name string) bool {
	switch strings.TrimPrefix(name, "node:") {
	case "readline", "readline/promises", "readline-sync", "inquirer", "prompts", "prompt", "prompt-sync", "enquirer", "@clack/prompts":
		return true
	}
	return strings.HasPrefix(name, "@inquirer/")
}

// Asks reports whether the program waits for somebody at a terminal: it uses a module
// that asks, and calls a function for a question. A source that cannot be read may.
func (m *Module) Asks() bool {
	if !m.parse() {
		return true
	}
	loads, calls, builtin := false, false, false
	for _, n := range m.tree.Body {
		n.Each(func(n *syntax.Node) bool {
			switch n.Kind {
			case syntax.Import:
				loads = loads || isAsking(n.Name)
			case syntax.Call:
				name := n.Kids[0].Dotted()
				if (name == "require" || name == "import") && len(n.Kids) > 1 && n.Kids[1].Kind == syntax.String {
					loads = loads || isAsking(n.Kids[1].Name)
				}
				builtin = builtin || (name == "prompt" || name == "confirm") && len(n.Kids) > 1
				calls = calls || asks(n.Kids[0])
			case syntax.Mentions:
				calls = calls || slices.ContainsFunc(n.Kids, asks)
			}
			return true
		})
	}
	return loads && (calls || builtin)
}

// asks reports whether the function of a call asks a question.
func asks(callee *syntax.Node) bool {
	name := callee.Name
	switch name {
	case "question", "prompt", "prompts", "inquirer", "keyInSelect", "keyInYN", "questionNewPassword", "confirm", "select", "input", "password", "checkbox", "text", "multiselect", "get":
		return true
	}
	return false
}
