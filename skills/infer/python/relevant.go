package python

import (
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// findRelevant marks the functions that declare arguments, and those that name
// one of these, or a command of click or typer. Only they are followed. Declares
// reports whether a name declares arguments.
func (m *Module) findRelevant(declares func(name string) bool) {
	wanted, source := map[string]bool{}, m.tokens
	functions := m.wrap(m.defined)
	for _, fn := range functions {
		fn.mentioned, fn.called = nil, false
	}
	for _, s := range m.body {
		if s.Kind == syntax.AssignStmt && s.Value.Kind == syntax.Call && strings.HasSuffix(syntax.Dotted(s.Value.Kids[0]), "Typer") {
			wanted[s.Targets[0].Name] = true
		}
	}
	functions = m.withCommands(functions, wanted)
	if len(wanted) == 0 && !slices.ContainsFunc(source, func(tok syntax.Token) bool { return tok.Kind == syntax.NameToken && declares(tok.Text) }) {
		return
	}
	defined := source.defined()
	maps.Copy(defined, wanted)
	for range maxCalls {
		found := false
		for i := 0; i < len(functions); i++ {
			if fn := functions[i]; fn.mentions(defined, declares).any(wanted) && !wanted[fn.Name] {
				fn.relevant, wanted[fn.Name], found = true, true, true
				functions = append(functions, m.wrap(fn.ParseNested())...)
			}
		}
		if !found {
			return
		}
	}
}

// wrap returns the functions of definitions.
func (m *Module) wrap(defs []*syntax.Function) []*function {
	var all []*function
	for _, def := range defs {
		all = append(all, m.functions.of(def))
	}
	return all
}

// mentions returns those of a function, which are searched once. Most scripts have
// several rounds of the search, and thousands of tokens.
func (f *function) mentions(defined map[string]bool, declares func(string) bool) *mentions {
	if f.mentioned != nil {
		return f.mentioned
	}
	f.mentioned = &mentions{}
	for _, tok := range f.Tokens {
		switch {
		case tok.Kind != syntax.NameToken:
		case declares(tok.Text):
			f.mentioned.declares = true
			return f.mentioned
		case defined[tok.Text] && !slices.Contains(f.mentioned.names, tok.Text):
			f.mentioned.names = append(f.mentioned.names, tok.Text)
		}
	}
	return f.mentioned
}

func (m *mentions) any(wanted map[string]bool) bool {
	return m.declares || slices.ContainsFunc(m.names, func(name string) bool { return wanted[name] })
}

// withCommands adds the names of commands of click and typer to wanted. It returns the
// functions, and those in bodies that may define such commands.
func (m *Module) withCommands(functions []*function, wanted map[string]bool) []*function {
	functions = slices.Clone(functions)
	for i := 0; i < len(functions); i++ {
		fn := functions[i]
		for _, decorator := range fn.Decorators {
			if decorator.Kind == syntax.Call {
				decorator = decorator.Kids[0]
			}
			if isCommand(decorator.Name) {
				wanted[fn.Name] = true
			}
		}
		if fn.Unparsed != nil && slices.ContainsFunc(fn.Tokens, func(tok syntax.Token) bool { return tok.Kind == syntax.NameToken && isCommand(tok.Text) }) {
			functions = append(functions, m.wrap(fn.ParseNested())...)
		}
	}
	return functions
}

func isCommand(decorator string) bool { return decorator == "command" || decorator == "group" }
