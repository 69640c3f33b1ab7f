package server

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// ToolNames returns the names of skills' tools: "plugin__skill" in the letters
// that every client accepts, [a-zA-Z0-9_-]. A name that is too long, that says
// nothing in those letters, or that two skills or a fixed tool would share, is
// cut and ends with eight digits of a hash of the qualified name: the same at
// every start, whatever else there is.
func ToolNames(all []*skills.Skill) map[*skills.Skill]string {
	names := make(map[*skills.Skill]string, len(all))
	tools := toolNames(all)
	for _, skill := range all {
		names[skill] = tools.of[skill.QualifiedName()]
	}
	return names
}

// Names of tools and prompts that other files refer to.
const (
	matchTool     = "match_skills"
	installPrompt = "install"
	anyPrompt     = "use_skill" // takes a skill's name
)

// fixedNames are the names that no skill's tool or prompt can have.
func fixedNames() []string {
	return []string{
		"close_sandbox", "get_skill", installPrompt, string(run.WayInstall), "list_plugins", "list_skills", "load_skill", matchTool, "open_sandbox",
		"rate_skill", "read_output", "reload_skills", "run_code", "run_skill", "search_skills", "sessions_history", "sessions_kill", "sessions_list",
		"sessions_send", "sessions_spawn", anyPrompt,
	}
}

// names are the tool names of a catalog's skills.
type names struct {
	of     map[string]string // by qualified name
	owners map[string]string // the qualified names by tool name
}

func toolNames(all []*skills.Skill) *names {
	n := &names{of: plainOrHashed(all), owners: make(map[string]string, len(all))}
	for qualified, tool := range n.of {
		n.owners[tool] = qualified
	}
	return n
}

// plainOrHashed returns the tool names by qualified name.
func plainOrHashed(all []*skills.Skill) map[string]string {
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
