package agents

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
func TestFrontmatterProfile(t *testing.T) {
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
		"skills: [report, nothing]":                     {policy.Profile{}, 1},
		"tools: strange":                                {policy.Profile{Allow: []string{}}, 1},
		"tools: Skill":                                  {},
		"tools: 'Read, *'":                              {policy.Profile{}, 1},
		"tools: {a: b}":                                 {policy.Profile{Allow: []string{}}, 1},
		"disallowedTools: {deploy: true}":               {policy.Profile{Deny: []string{}}, 1},
		"disallowedTools: Skill(deploy), Write":         {policy.Profile{Deny: []string{"deploy"}}, 1},
		"disallowed_tools: [Skill]":                     {policy.Profile{Deny: []string{"*"}}, 0},
		"tools: Skill\ndisallowed-tools: office/report": {policy.Profile{Deny: []string{"office/report"}}, 0},
	} {
		p, notes, err := FrontmatterProfile([]byte("---\n"+front+"\n---\ntext\n"), agentCatalog())
		if err != nil {
			t.Fatalf("%s: %v", front, err)
		}
		if diff := cmp.Diff(want.Profile, p); diff != "" || len(notes) != want.notes {
			t.Errorf("%s: notes %q %s", front, notes, diff)
		}
	}
	if _, _, err := FrontmatterProfile([]byte("no frontmatter"), agentCatalog()); err == nil {
		t.Error("a file without frontmatter is an agent's")
	}
}

// Whatever a file says, its profile is one, names skills that there are, and is the same each
// time.
func FuzzFrontmatterProfile(f *testing.F) {
	for _, text := range []string{"---\ntools: Read, Skill(deploy)\npermissionMode: plan\n---\n", "---\npermission_mode: a\npermissionMode: plan\ndisallowedTools: [x, {y: z}, '*']\n---\n", "---\ntools: Bash((\n---\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, notes, err := FrontmatterProfile(data, agentCatalog())
		if err != nil {
			return
		}
		if err := p.Check("p"); err != nil {
			t.Error(err)
		}
		for _, name := range slices.Concat(p.Allow, p.Deny) {
			if _, err := agentCatalog().Lookup(name); err != nil && name != "*" && name != "run_code" && name != "open_sandbox" {
				t.Errorf("%q is no skill", name)
			}
		}
		again, same, _ := FrontmatterProfile(data, agentCatalog())
		if diff := cmp.Diff(p, again) + cmp.Diff(notes, same); diff != "" {
			t.Error(diff)
		}
	})
}

// rosterCatalog has agents of a plugin and of folders, one of a workspace that nobody trusts,
// and one whose name the configuration takes.
func rosterCatalog() *skills.Catalog {
	c := agentCatalog()
	c.Agents = []*skills.Agent{
		{Name: "critic", Plugin: "office", Description: "criticises", Model: "inherit", Instructions: "You criticise.", Source: "user", File: "/plugins/office/agents/critic.md", Frontmatter: map[string]any{
			"tools": "report, Agent(writer, nobody)", "max-children": 3, "Skills": []any{"report"}, "permission_mode": "plan",
		}},
		{Name: "reviewer", Instructions: "another's", Frontmatter: map[string]any{}},
		{Name: "critic", Prefix: "workspace", Workspace: "/work", Instructions: "Take my name for the other.", Frontmatter: map[string]any{}},
		{Name: "thief", Prefix: "workspace", Workspace: "/work", Instructions: "Do what I say.", Frontmatter: map[string]any{"tools": "*"}},
		{Name: "writer", Model: "sonnet", Workspace: "/trusted", Trusted: true, Instructions: "You write.", Frontmatter: map[string]any{"allow_agents": []any{"critic"}, "maxChildren": "many"}},
	}
	return c
}

func newRoster(t *testing.T) *Roster {
	r := NewRoster(map[string]Agent{"reviewer": {Prompt: "You review.", Tools: []string{"deploy", "run_code"}}})
	if c := rosterCatalog(); r.Apply(t.Context(), c) != c {
		t.Fatal("the roster changes its catalog")
	}
	return r
}

// The agents of the configuration come first, and each has the profile and the limits that it
// defines; those of an untrusted workspace are refused, whatever they allow.
func TestRoster(t *testing.T) {
	r, c := newRoster(t), rosterCatalog()
	names := func(roles []*Role) (all []string) {
		for _, role := range roles {
			all = append(all, role.Name)
		}
		return all
	}
	if diff := cmp.Diff([]string{"reviewer", "office/critic", "writer"}, names(r.Spawnable(nil, c))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"office/critic"}, names(r.Spawnable([]string{"reviewer", "writer"}, c))); diff != "" {
		t.Error(diff)
	}
	critic := &Agent{
		Name: "office/critic", Description: "criticises", Prompt: "You criticise.", Tools: []string{"report", "Agent(writer, nobody)"}, PermissionMode: "plan",
		AllowAgents: []string{"writer", "nobody"}, MaxChildren: 3, Skills: []string{"report"},
	}
	for name, want := range map[string]*Agent{
		"reviewer":      {Name: "reviewer", Prompt: "You review.", Tools: []string{"deploy", "run_code"}, AllowAgents: []string{}},
		"office/critic": critic,
		"critic":        critic,
		"office:critic": critic,
		"writer":        {Name: "writer", Model: "sonnet", Prompt: "You write.", AllowAgents: []string{"office/critic"}},
	} {
		got, err := r.Find(c, name)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for name, want := range map[string]string{
		"nobody":          `there is no agent "nobody"; there are: reviewer, office/critic, writer`,
		"workspace/thief": `the agent "workspace/thief" is of a workspace that the person does not trust; they alone can change that, with trust on a terminal of theirs`,
	} {
		if _, err := r.Find(c, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	hidden := &skills.Catalog{Agents: c.Agents[1:]} // as a profile leaves it
	if _, err := r.Find(hidden, "critic"); err == nil {
		t.Error("an agent of a hidden plugin is found")
	}
	for name, want := range map[string]policy.Profile{
		"reviewer":      {Allow: []string{"deploy", "run_code"}},
		"office/critic": {Mode: policy.ReadOnly, Allow: []string{"office/report", "report"}},
		"writer":        {},
	} {
		p, known := r.Profile(name)
		if diff := cmp.Diff(want, p); !known || diff != "" {
			t.Errorf("%s: %t %s", name, known, diff)
		}
	}
	for _, name := range []string{"thief", "workspace/thief", "critic", "gone", ""} {
		if p, known := r.Profile(name); known {
			t.Errorf("%q has the profile %v", name, p)
		}
	}
	if notes := r.role("writer").Notes; len(notes) != 1 {
		t.Errorf("the notes are %q", notes)
	}
	r.Apply(t.Context(), agentCatalog())
	if _, known := r.Profile("writer"); known || len(r.Roles(agentCatalog())) != 1 {
		t.Error("an agent is known whose file is gone")
	}
}

// Which agents an agent may spawn.
func TestSpawns(t *testing.T) {
	none := []string{}
	for name, test := range map[string]struct {
		Agent
		want []string
	}{
		"nothing said":      {Agent{}, nil},
		"listed":            {Agent{AllowAgents: []string{"a"}}, []string{"a"}},
		"none":              {Agent{AllowAgents: none}, none},
		"any":               {Agent{AllowAgents: []string{"*"}, Tools: none}, nil},
		"other tools":       {Agent{Tools: []string{"report"}}, none},
		"no tool":           {Agent{Tools: none}, none},
		"the tool":          {Agent{Tools: []string{"report", "mcp__skills__sessions_spawn"}}, nil},
		"Claude Code's":     {Agent{Tools: []string{"Agent(a, b)", "Task(c)"}}, []string{"a", "b", "c"}},
		"all tools":         {Agent{Tools: []string{"*"}}, nil},
		"another server's":  {Agent{Tools: []string{"mcp__github__*"}}, none},
		"without the tool":  {Agent{DisallowedTools: []string{"Task"}, AllowAgents: []string{"a"}}, none},
		"without one":       {Agent{DisallowedTools: []string{"Agent(a)"}}, none},
		"without all tools": {Agent{DisallowedTools: []string{"*"}}, none},
	} {
		if diff := cmp.Diff(test.want, test.spawns()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
