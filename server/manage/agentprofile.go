package manage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// agentModes are the permission modes of agents that say something of a profile.
var agentModes = map[string]policy.Mode{
	"plan": policy.ReadOnly, "readonly": policy.ReadOnly, "explore": policy.ReadOnly, "default": "", "ask": "", "confirm": policy.Confirm, "dualsign": policy.DualSign,
}

// agentTool matches a tool in a list, with what is in its parentheses.
var agentTool = lazyregexp.New(`[^\s,()]+(?:\([^)]*\))?`)

// AgentProfile reads the profile that an agent's file describes, by its frontmatter: the mode,
// and the tools that are skills of a catalog. notes say, a line each, what has no counterpart.
func AgentProfile(data []byte, catalog *skills.Catalog) (p policy.Profile, notes []string, err error) {
	front, err := manifest.Frontmatter(data)
	if err != nil {
		return p, nil, err
	}
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if _, value := agentField(front, "permissionmode"); value != nil {
		text := strings.ToLower(strings.TrimSpace(fmt.Sprint(value)))
		mode, known := agentModes[strings.NewReplacer("-", "", "_", "").Replace(text)]
		if p.Mode = mode; !known {
			note("permission mode %.70q: has no counterpart; who confirms calls is for policy.mode", text)
		}
	}
	named := func(key string) (all []string, given bool) {
		key, value := agentField(front, key)
		if value == nil {
			return nil, false
		}
		all = []string{}
		for _, tool := range agentTools(value) {
			found := skillsOfTool(tool, catalog)
			if len(found) == 0 {
				note("%s: %.70q is no skill, and is left out", key, tool)
			}
			all = append(all, found...)
		}
		slices.Sort(all)
		return slices.Compact(all), true
	}
	if allow, given := named("tools"); given && !slices.Contains(allow, "*") {
		p.Allow = allow
	}
	if deny, given := named("disallowedtools"); given && len(deny) > 0 {
		p.Deny = deny
	}
	return p, notes, nil
}

// agentField returns the field of a frontmatter whose name is key but for its spelling; nil
// without one.
func agentField(front map[string]any, key string) (name string, value any) {
	for _, name := range slices.Sorted(maps.Keys(front)) {
		if strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) == key && front[name] != nil {
			return name, front[name]
		}
	}
	return key, nil
}

// agentTools returns the tools of a field: a text, or a list of texts.
func agentTools(value any) (all []string) {
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	for _, one := range list {
		text, _ := one.(string)
		for _, tool := range agentTool.FindAll([]byte(text), -1) {
			all = append(all, string(tool))
		}
	}
	return all
}

// skillsOfTool returns the skills that an agent calls by the name of a tool, such as
// mcp__skills__report, Skill(report) or report; Skill is all.
func skillsOfTool(tool string, catalog *skills.Catalog) (names []string) {
	if tool == "*" || tool == "Skill" {
		return []string{"*"}
	}
	if inner, ok := strings.CutPrefix(tool, "Skill("); ok {
		tool = strings.TrimSuffix(inner, ")")
	}
	if parts := strings.SplitN(tool, "__", 3); parts[0] == "mcp" && len(parts) == 3 {
		tool = parts[2]
	}
	for _, skill := range catalog.Skills {
		if tool == skill.QualifiedName() || tool == skill.PlainToolName() || tool == skill.HashedToolName() || tool == skill.Name && !skill.Untrusted() {
			names = append(names, skill.QualifiedName())
		}
	}
	return names
}
