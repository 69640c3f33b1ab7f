package server

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// ToolNames returns the names of skills' tools: "plugin__skill" in the letters
// that every client accepts, [a-zA-Z0-9_-]. A name that is too long, that says
// nothing in those letters, or that two skills or a fixed tool would share, is
// cut and ends with eight digits of a hash of the qualified name: the same at
// every start, whatever else there is.
func ToolNames(all []*skills.Skill) map[*skills.Skill]string {
	names := make(map[*skills.Skill]string, len(all))
	claims := map[string]int{}
	for _, name := range fixedNames() {
		claims[name]++
	}
	for _, skill := range all {
		names[skill] = skill.PlainToolName()
		claims[names[skill]]++
	}
	for skill, name := range names {
		if claims[name] > 1 || len(name) > skills.MaxToolName || strings.Trim(name, "_-") == "" {
			names[skill] = skill.HashedToolName()
		}
	}
	return names
}
