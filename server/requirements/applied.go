package requirements

import (
	"maps"

	"github.com/skillsmcp/skills-mcp/skills"
)

// applied is what Apply came to, and on what grounds. The zero value is of no
// catalog.
type applied struct {
	before, after *skills.Catalog
	facts         int             // number of what was known of sandboxes
	asked         map[string]bool // whether this machine has the programs that skills asked for
}

// again looks for the programs once more: a person may have installed one. Many
// skills ask for the same few.
func (a applied) again(has func(string) bool) map[string]bool {
	asked := make(map[string]bool, len(a.asked))
	for name := range a.asked {
		asked[name] = has(name)
	}
	return asked
}

// holds reports whether the grounds are those of next.
func (a applied) holds(next applied) bool {
	return a.before != nil && a.facts == next.facts && maps.Equal(a.asked, next.asked)
}
