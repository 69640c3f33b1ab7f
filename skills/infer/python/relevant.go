package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// findRelevant finds the functions that declare arguments, those that name one of these,
// and the commands of typer. Only they are followed. Declares reports whether a
// name declares arguments.
func (m *Module) findRelevant(declares func(name string) bool) {
	m.functions = functions{map[*syntax.Function]*function{}, declares, map[string]bool{}}
	queue := m.commandNames()
	if len(queue) == 0 && !m.tokens.hasName(declares) {
		return
	}
	callers := map[string][]string{} // by a name that they have in them
	defined := m.tokens.defined()
	for _, fn := range m.defined {
		for _, tok := range fn.Tokens {
			switch {
			case tok.Kind != syntax.NameToken:
			case declares(tok.Text):
				queue = append(queue, fn.Name)
			case defined[tok.Text] || slices.Contains(queue, tok.Text):
				callers[tok.Text] = append(callers[tok.Text], fn.Name)
			}
		}
	}
	for len(queue) > 0 {
		name := queue[0]
		if queue = queue[1:]; !m.functions.wanted[name] {
			m.functions.wanted[name] = true
			queue = append(queue, callers[name]...)
		}
	}
}

// commandNames returns the names of apps of typer, of its commands, and of
// functions that define such commands.
func (m *Module) commandNames() []string {
	var names []string
	for _, s := range m.body {
		if s.Kind == syntax.AssignStmt && s.Value.Kind == syntax.Call && strings.HasSuffix(syntax.Dotted(s.Value.Kids[0]), "Typer") {
			names = append(names, s.Targets[0].Name)
		}
	}
	for _, fn := range m.defined {
		if slices.ContainsFunc(fn.Decorators, isCommand) || code(fn.Tokens).definesCommand() {
			names = append(names, fn.Name)
		}
	}
	return names
}

// isCommand reports whether a decorator is one that makes a command of a function.
func isCommand(decorator *syntax.Node) bool {
	if decorator.Kind == syntax.Call {
		decorator = decorator.Kids[0]
	}
	return decorator.Name == "command" || decorator.Name == "group"
}
