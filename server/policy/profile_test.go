package policy

import (
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// profileCatalog has a skill of each class, one with a tool of a higher class, one that
// connects, and one of an untrusted workspace.
func profileCatalog() *skills.Catalog {
	skill := func(name string, class skills.Class) *skills.Skill {
		return &skills.Skill{Name: name, Dir: "/skills/" + name, Class: class, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"}}
	}
	parent, tool, reaches, strange := skill("parent", skills.Safe), skill("parent__tool", skills.Mutating), skill("reaches", skills.Safe), skill("strange", skills.Mutating)
	tool.Of, parent.Tools = parent, []*skills.Skill{tool}
	reaches.Entry.Network, strange.Workspace = []string{"api.example.com"}, "/work"
	low, high := skill("low", skills.Mutating), skill("high", skills.Safe)
	return &skills.Catalog{Skills: []*skills.Skill{skill("read", skills.Safe), skill("write", skills.Mutating), skill("wipe", skills.Dangerous), parent, tool, reaches, strange, low, high}}
}

// Which skills exist for a profile, by mode and class: in the catalog, by a question for one,
// and in the decision about a call.
func TestProfiles(t *testing.T) {
	host, err := egress.ParseRule("api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	rules := []Rule{
		{Pattern: "wipe", Name: "mine", Approve: Each}, // else it is refused in the mode confirm
		{Pattern: "low", Name: "mine", Class: skills.Safe},
		{Pattern: "high", Name: "mine", Hosts: []egress.Rule{host}},
		{Pattern: "strange", Name: "mine", Class: skills.Safe}, // counts once the workspace is trusted
	}
	profiles := map[string]Profile{
		"":       {},
		"reads":  {Allow: []string{"read", "parent", "low"}},
		"writes": {Deny: []string{"read", "parent", "low"}},
		"safe":   {Class: skills.Safe}, "mutating": {Class: skills.Mutating}, "dangerous": {Class: skills.Dangerous},
		"looks": {Mode: ReadOnly}, "two": {Mode: DualSign}, "both": {Mode: ReadOnly, Class: skills.Dangerous},
	}
	all := []string{"read", "write", "wipe", "parent", "parent__tool", "reaches", "strange", "low", "high"}
	safe := []string{"read", "parent", "low"}
	for _, test := range []struct {
		profile  string
		readOnly bool
		want     []string
	}{
		{"", false, all}, {"dangerous", false, all}, {"two", false, all},
		{"reads", false, []string{"read", "parent", "parent__tool", "low"}},
		{"writes", false, []string{"write", "wipe", "reaches", "strange", "high"}},
		{"mutating", false, []string{"read", "write", "parent", "parent__tool", "reaches", "strange", "low", "high"}},
		{"safe", false, safe}, {"looks", false, safe}, {"both", false, safe},
		{"", true, safe}, {"two", true, safe}, {"dangerous", true, safe}, {"reads", true, safe}, {"writes", true, nil},
		{"unknown", false, nil}, {"unknown", true, nil},
	} {
		who := identity.Principal{Kind: identity.Model, Profile: test.profile, ReadOnly: test.readOnly}
		p := New(&Options{Rules: rules, Profiles: profiles, Workspaces: proposals{}})
		var listed, found, decided []string
		for _, skill := range NewFilter(p, who).Apply(t.Context(), profileCatalog()).Skills {
			listed = append(listed, skill.Name)
		}
		for _, skill := range profileCatalog().Skills {
			if p.Missing(t.Context(), who, skill) == "" {
				found = append(found, skill.Name)
			}
			d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: skill, Principal: who})
			if err == nil {
				decided = append(decided, skill.Name)
			} else if codeOf(err) != run.PermissionDenied {
				t.Errorf("%+v: %s: %v", who, skill.Name, err)
			}
			if want := 2; err == nil && test.profile == "two" && d.Class != skills.Safe && d.Signatures != want {
				t.Errorf("%+v: %s: %d signatures, not %d", who, skill.Name, d.Signatures, want)
			}
			if may := p.MayAsk(who, skill); err != nil && may {
				t.Errorf("%+v: %s: refused, and may ask", who, skill.Name)
			}
		}
		for way, got := range map[string][]string{"listed": listed, "found": found, "decided": decided} {
			if !slices.Equal(got, test.want) {
				t.Errorf("%+v: %s %q, not %q", who, way, got, test.want)
			}
		}
	}
}
