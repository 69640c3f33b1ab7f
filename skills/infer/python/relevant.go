package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// functions are those of a module, by their definitions.
type functions struct {
	of       map[*syntax.Function]*function
	declares func(name string) bool // nil for no name
	wanted   map[string]bool        // functions that lead to one that declares arguments, and apps of typer
}

// get returns the function of a definition. It is relevant if a name in it declares
// arguments, or is wanted, and if it defines a command.
func (f *functions) get(def *syntax.Function) *function {
	if f.of[def] == nil {
		inside := code(def.Tokens)
		f.of[def] = &function{Function: def, relevant: inside.hasName(f.leads) || inside.definesCommand()}
	}
	return f.of[def]
}

func (f *functions) leads(name string) bool {
	return f.wanted[name] || f.declares != nil && f.declares(name)
}

// findRelevant finds the functions that declare arguments, those that name one of these,
// and the commands of click and typer. Only they are followed. Declares reports whether a
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

// commandNames returns the names of apps of typer, of commands of click and typer, and of
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

// definesCommand reports whether a function has a decorator like "@app.command".
func (c code) definesCommand() bool {
	for at := range c {
		if name := c.text(at + 3); c.text(at) == "@" && (name == "command" || name == "group") {
			return true
		}
	}
	return false
}
