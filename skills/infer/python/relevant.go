package python

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// findRelevant finds the functions that declare arguments and those that name one of
// these. Only they are followed. Declares reports whether a name declares arguments.
func (m *Module) findRelevant(declares func(name string) bool) {
	m.functions = functions{map[*syntax.Function]*function{}, declares, map[string]bool{}}
	if !m.tokens.hasName(declares) {
		return
	}
	var queue []string
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
