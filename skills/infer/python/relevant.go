package python

import (
	"maps"
	"slices"
	"strings"
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
		if s.kind == sAssign && s.value.kind == nCall && strings.HasSuffix(dotted(s.value.kids[0]), "Typer") {
			wanted[s.targets[0].name] = true
		}
	}
	functions = m.withCommands(functions, wanted)
	if len(wanted) == 0 && !slices.ContainsFunc(source, func(tok token) bool { return tok.kind == tokName && declares(tok.text) }) {
		return
	}
	defined := source.defined()
	maps.Copy(defined, wanted)
	for range maxCalls {
		found := false
		for i := 0; i < len(functions); i++ {
			if fn := functions[i]; fn.mentions(defined, declares).any(wanted) && !wanted[fn.name] {
				fn.relevant, wanted[fn.name], found = true, true, true
				functions = append(functions, m.wrap(fn.parseNested())...)
			}
		}
		if !found {
			return
		}
	}
}

// wrap returns the functions of definitions.
func (m *Module) wrap(defs []*funcDef) []*function {
	var all []*function
	for _, def := range defs {
		all = append(all, m.functions.of(def))
	}
	return all
}

// defined returns the names of the functions of a source, at any depth.
func (c code) defined() map[string]bool {
	names := map[string]bool{}
	for at, tok := range c {
		if at > 0 && tok.kind == tokName && c[at-1].kind == tokOp && c[at-1].text == "def" {
			names[tok.text] = true
		}
	}
	return names
}

// mentions returns those of a function, which are searched once. Most scripts have
// several rounds of the search, and thousands of tokens.
func (f *function) mentions(defined map[string]bool, declares func(string) bool) *mentions {
	if f.mentioned != nil {
		return f.mentioned
	}
	f.mentioned = &mentions{}
	for _, tok := range f.tokens {
		switch {
		case tok.kind != tokName:
		case declares(tok.text):
			f.mentioned.declares = true
			return f.mentioned
		case defined[tok.text] && !slices.Contains(f.mentioned.names, tok.text):
			f.mentioned.names = append(f.mentioned.names, tok.text)
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
		for _, decorator := range fn.decorators {
			if decorator.kind == nCall {
				decorator = decorator.kids[0]
			}
			if isCommand(decorator.name) {
				wanted[fn.name] = true
			}
		}
		if fn.unparsed != nil && slices.ContainsFunc(fn.tokens, func(tok token) bool { return tok.kind == tokName && isCommand(tok.text) }) {
			functions = append(functions, m.wrap(fn.parseNested())...)
		}
	}
	return functions
}

func isCommand(decorator string) bool { return decorator == "command" || decorator == "group" }
