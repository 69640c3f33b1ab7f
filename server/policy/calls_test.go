package policy

import (
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A rule grants the skills that a script may call: the narrowest one that says so, and
// nothing to a stranger's skill.
func TestCalls(t *testing.T) {
	none := []string{}
	for name, test := range map[string]struct {
		rules     []Rule
		workspace string
		want      []string
	}{
		"no rule":           {nil, "", nil},
		"a rule":            {[]Rule{{Pattern: "a", Calls: []string{"b", "p/*"}}}, "", []string{"b", "p/*"}},
		"of another":        {[]Rule{{Pattern: "b", Calls: []string{"b"}}}, "", nil},
		"the narrowest":     {[]Rule{{Pattern: "*", Calls: []string{"*"}}, {Pattern: "a", Calls: none}}, "", none},
		"a stranger's":      {[]Rule{{Pattern: "*", Calls: []string{"*"}}}, "/work", nil},
		"a workspace's own": {[]Rule{{Pattern: "a", Calls: []string{"b"}, Narrows: true}}, "", nil},
	} {
		skill := &skills.Skill{Name: "a", Class: skills.Safe, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"}, Workspace: test.workspace}
		for i := range test.rules {
			test.rules[i].Name = "rule"
		}
		p := New(&Options{Rules: test.rules})
		d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: skill, Principal: identity.Principal{Kind: identity.Model}})
		if err != nil || !slices.Equal(d.Calls, test.want) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}
