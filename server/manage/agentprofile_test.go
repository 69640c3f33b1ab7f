package manage

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
)

func agentCatalog() *skills.Catalog {
	return &skills.Catalog{Skills: []*skills.Skill{
		{Name: "report", Plugin: "office"}, {Name: "report"}, {Name: "deploy"},
		{Name: "strange", Workspace: "/work", Prefix: "untrusted"},
	}}
}

// The modes and tools of agents, by each spelling, and a note for each thing without a
// counterpart.
func TestAgentProfile(t *testing.T) {
	for front, want := range map[string]struct {
		policy.Profile
		notes int
	}{
		"name: a":                                       {},
		"permissionMode: plan":                          {policy.Profile{Mode: policy.ReadOnly}, 0},
		"permission_mode: READ_ONLY":                    {policy.Profile{Mode: policy.ReadOnly}, 0},
		"permission-mode: dual-sign":                    {policy.Profile{Mode: policy.DualSign}, 0},
		"permissionMode: default":                       {},
		"permissionMode: [plan]":                        {policy.Profile{}, 1},
		"permissionMode: acceptEdits":                   {policy.Profile{}, 1},
		"permissionMode: null":                          {},
		"tools: Read, Grep":                             {policy.Profile{Allow: []string{}}, 2},
		"tools: []":                                     {policy.Profile{Allow: []string{}}, 0},
		"tools: deploy Bash(rm -rf *, ls)":              {policy.Profile{Allow: []string{"deploy"}}, 1},
		"tools: [mcp__s__office__report, deploy]":       {policy.Profile{Allow: []string{"deploy", "office/report"}}, 0},
		"tools: report":                                 {policy.Profile{Allow: []string{"office/report", "report"}}, 0},
		"tools: strange":                                {policy.Profile{Allow: []string{}}, 1},
		"tools: Skill":                                  {},
		"tools: 'Read, *'":                              {policy.Profile{}, 1},
		"tools: {a: b}":                                 {policy.Profile{Allow: []string{}}, 0},
		"disallowedTools: Skill(deploy), Write":         {policy.Profile{Deny: []string{"deploy"}}, 1},
		"disallowed_tools: [Skill]":                     {policy.Profile{Deny: []string{"*"}}, 0},
		"tools: Skill\ndisallowed-tools: office/report": {policy.Profile{Deny: []string{"office/report"}}, 0},
	} {
		p, notes, err := AgentProfile([]byte("---\n"+front+"\n---\ntext\n"), agentCatalog())
		if err != nil {
			t.Fatalf("%s: %v", front, err)
		}
		if diff := cmp.Diff(want.Profile, p); diff != "" || len(notes) != want.notes {
			t.Errorf("%s: notes %q %s", front, notes, diff)
		}
	}
	if _, _, err := AgentProfile([]byte("no frontmatter"), agentCatalog()); err == nil {
		t.Error("a file without frontmatter is an agent's")
	}
}

// Whatever a file says, its profile is one, names skills that there are, and is the same each
// time.
func FuzzAgentProfile(f *testing.F) {
	for _, text := range []string{"---\ntools: Read, Skill(deploy)\npermissionMode: plan\n---\n", "---\npermission_mode: a\npermissionMode: plan\ndisallowedTools: [x, {y: z}, '*']\n---\n", "---\ntools: Bash((\n---\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, notes, err := AgentProfile(data, agentCatalog())
		if err != nil {
			return
		}
		if err := p.Check("p"); err != nil {
			t.Error(err)
		}
		for _, name := range slices.Concat(p.Allow, p.Deny) {
			if _, err := agentCatalog().Lookup(name); err != nil && name != "*" {
				t.Errorf("%q is no skill", name)
			}
		}
		again, same, _ := AgentProfile(data, agentCatalog())
		if diff := cmp.Diff(p, again) + cmp.Diff(notes, same); diff != "" {
			t.Error(diff)
		}
	})
}
