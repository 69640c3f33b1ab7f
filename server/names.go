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
	byName := toolNames(all)
	for _, skill := range all {
		names[skill] = byName[skill.QualifiedName()]
	}
	return names
}

// toolNames are the same by qualified name.
func toolNames(all []*skills.Skill) map[string]string {
	plain := make([]string, len(all))
	claims := make(map[string]int, len(all))
	for _, name := range fixedNames() {
		claims[name]++
	}
	for i, skill := range all {
		plain[i] = skill.PlainToolName()
		claims[plain[i]]++
	}
	names := make(map[string]string, len(all))
	for i, skill := range all {
		name := plain[i]
		if claims[name] > 1 || len(name) > skills.MaxToolName || strings.Trim(name, "_-") == "" {
			name = skill.HashedToolName()
		}
		names[skill.QualifiedName()] = name
	}
	return names
}
