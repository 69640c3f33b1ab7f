package server

import (
	"regexp"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

func TestToolNames(t *testing.T) {
	all := []*skills.Skill{
		{Name: "plain"},
		{Name: "code-complexity", Plugin: "colony-samples"},
		{Name: "with.dots and-more"},
		{Name: "with dots.and-more"}, // the same once it is made plain
		{Name: "run_skill"},          // the name of a fixed tool
		{Name: "技能"},
		{Name: strings.Repeat("long-", 20)},
		{Name: strings.Repeat("long-", 20), Plugin: "p"},
		{Name: "b", Plugin: "a"},
		{Name: "a__b"}, // the same as a/b
	}
	want := []string{
		"plain", "colony-samples__code-complexity",
		"with_dots_and-more_789d91b1", "with_dots_and-more_7d58e1e1", "run_skill_651d7ad7", "skill_99aea2f9",
		"long-long-long-long-long-long-long-lon_cd9ddee2", "p__long-long-long-long-long-long-long_3862963e",
		"a__b_c14cddc0", "a__b_63e5c1c4",
	}
	names := ToolNames(all)
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,47}$`)
	seen := map[string]bool{}
	for i, skill := range all {
		name := names[skill]
		if !valid.MatchString(name) || seen[name] {
			t.Errorf("%s: tool name %q is not valid or is there twice", skill.QualifiedName(), name)
		}
		seen[name] = true
		if name != want[i] {
			t.Errorf("%s: tool name %q, want %q", skill.QualifiedName(), name, want[i])
		}
		// Other skills must not matter, but for those it collides with.
		if i < 2 && ToolNames(all[i : i+1])[skill] != name {
			t.Errorf("%s has another name alone", skill.QualifiedName())
		}
	}
}
