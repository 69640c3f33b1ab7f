package policy

import (
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
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
	return &skills.Catalog{Skills: []*skills.Skill{high, low, parent, tool, reaches, skill("read", skills.Safe), strange, skill("wipe", skills.Dangerous), skill("write", skills.Mutating)}}
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
	all := []string{"high", "low", "parent", "parent__tool", "reaches", "read", "strange", "wipe", "write"}
	safe := []string{"low", "parent", "read"}
	agents := func(name string) (Profile, bool) {
		p, known := map[string]Profile{"team/reader": {Allow: []string{"read", "low", "write"}}, "writer": {Deny: []string{"read"}}, "planner": {Mode: ReadOnly}, "any": {}}[name]
		return p, known
	}
	for _, test := range []struct {
		profile  string
		readOnly bool
		want     []string
		agents   []string
	}{
		{"", false, []string{"low", "read", "write"}, []string{"team/reader"}},
		{"", false, []string{"low", "read", "write"}, []string{"team/reader", "any"}}, // a child that may do more than its parent
		{"", false, []string{"low", "write"}, []string{"team/reader", "writer"}},
		{"", false, []string{"low"}, []string{"planner", "team/reader", "writer"}},
		{"writes", false, []string{"write"}, []string{"team/reader"}},
		{"", true, []string{"low"}, []string{"writer", "team/reader"}},
		{"", false, nil, []string{"team/reader", "gone"}}, {"", false, nil, []string{"gone", "any"}},
	} {
		who := identity.Principal{Kind: identity.Model, Profile: test.profile, ReadOnly: test.readOnly, Agents: test.agents}
		p := New(&Options{Rules: rules, Profiles: profiles, Workspaces: proposals{}, Agents: agents})
		checkProfile(t, p, who, test.want)
	}
	for _, test := range []struct {
		profile  string
		readOnly bool
		want     []string
	}{
		{"", false, all}, {"dangerous", false, all}, {"two", false, all},
		{"reads", false, []string{"low", "parent", "parent__tool", "read"}},
		{"writes", false, []string{"high", "reaches", "strange", "wipe", "write"}},
		{"mutating", false, []string{"high", "low", "parent", "parent__tool", "reaches", "read", "strange", "write"}},
		{"safe", false, safe}, {"looks", false, safe}, {"both", false, safe},
		{"", true, safe}, {"two", true, safe}, {"dangerous", true, safe}, {"reads", true, safe}, {"writes", true, nil},
		{"unknown", false, nil}, {"unknown", true, nil},
	} {
		who := identity.Principal{Kind: identity.Model, Profile: test.profile, ReadOnly: test.readOnly}
		checkProfile(t, New(&Options{Rules: rules, Profiles: profiles, Workspaces: proposals{}}), who, test.want)
	}
	if who := (identity.Principal{Agents: []string{"any"}}); New(nil).Knows(t.Context(), who) || !New(&Options{Agents: agents}).Knows(t.Context(), who) {
		t.Error("an agent is known without agents, or unknown")
	}
}

// checkProfile checks the skills of profileCatalog that exist for a principal.
func checkProfile(t *testing.T, p *Policy, who identity.Principal, want []string) {
	t.Helper()
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
		if two := 2; err == nil && who.Profile == "two" && d.Class != skills.Safe && d.Signatures != two {
			t.Errorf("%+v: %s: %d signatures, not %d", who, skill.Name, d.Signatures, two)
		}
		if may := p.MayAsk(who, skill); err != nil && may {
			t.Errorf("%+v: %s: refused, and may ask", who, skill.Name)
		}
	}
	for way, got := range map[string][]string{"listed": listed, "found": found, "decided": decided} {
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %s %q, not %q", who, way, got, want)
		}
	}
}

// A profile gives its calls a workspace, variables to skills that name them, and of the granted
// secrets those that it lists.
func TestProfileGives(t *testing.T) {
	skill := &skills.Skill{Name: "a", Dir: "/skills/a", Class: skills.Safe, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh", Env: []string{"TEAM", "KEY"}}}
	rules := []Rule{{Pattern: "a", Name: "mine", Secrets: []run.SecretGrant{{Name: "S", Plain: true}, {Name: "T", Plain: true}}}}
	p := New(&Options{Rules: rules, Variables: []string{"KEY"}, Profiles: map[string]Profile{
		"red":  {Workspace: "/red", Env: map[string]string{"TEAM": "red", "KEY": "own", "PATH": "/evil"}, Secrets: []string{"S"}},
		"blue": {Env: map[string]string{"TEAM": "blue"}, Secrets: []string{}},
		"none": {},
	}})
	for profile, want := range map[string]struct {
		workspace                  string
		variables, values, secrets []string
	}{
		"red":  {"/red", []string{"TEAM", "KEY"}, []string{"TEAM=red", "KEY=own"}, []string{"S"}},
		"blue": {"", []string{"TEAM", "KEY"}, []string{"TEAM=blue"}, nil},
		"none": {"", []string{"KEY"}, nil, []string{"S", "T"}},
	} {
		who := identity.Principal{Kind: identity.Model, Profile: profile}
		d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: skill, Principal: who})
		if err != nil {
			t.Fatal(err)
		}
		var secrets []string
		for _, g := range d.Secrets {
			secrets = append(secrets, g.Name)
		}
		if got := p.Workspace(t.Context(), who); got != want.workspace || !slices.Equal(d.Variables, want.variables) || !slices.Equal(d.Values, want.values) || !slices.Equal(secrets, want.secrets) {
			t.Errorf("%s: %q, %+v", profile, got, d)
		}
		if class := map[bool]skills.Class{true: skills.Safe, false: skills.Mutating}[profile == "blue"]; d.Class != class {
			t.Errorf("%s: class %s", profile, d.Class)
		}
	}
	if !Gives(p, skill, "TEAM", false) || Gives(p, skill, "OTHER", false) {
		t.Error("what profiles give is not known")
	}
}

// The pins of a profile mark skills in their order, for its clients alone.
func TestProfilePins(t *testing.T) {
	p := New(&Options{Profiles: map[string]Profile{"red": {Pin: []string{"w*", "read"}}, "blue": {}}})
	for profile, want := range map[string][]int{"red": {0, 0, 0, 0, 0, 2, 0, 1, 1}, "blue": {0, 0, 0, 0, 0, 0, 0, 0, 0}} {
		var got []int
		for _, skill := range NewFilter(p, identity.Principal{Profile: profile}).Apply(t.Context(), profileCatalog()).Skills {
			got = append(got, skill.Priority)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", profile, got, want)
		}
	}
}

// The profiles of commands count at once in all processes. One of the configuration comes
// first, and a row that is copied to another name counts for nobody.
func TestStoredProfiles(t *testing.T) {
	_, open := newStore(t)
	writer := open()
	p := New(&Options{Book: open(), Profiles: map[string]Profile{"ci": {Deny: []string{"*"}}}})
	skill := skillAt("a", "/home/a")
	exists := func(profile string) bool {
		return p.Missing(t.Context(), identity.Principal{Profile: profile}, skill) == ""
	}
	put := func(name string, profile Profile) {
		t.Helper()
		if err := writer.PutProfile(t.Context(), NamedProfile{Name: name, Profile: profile}); err != nil {
			t.Fatal(err)
		}
	}
	if exists("red") || exists("ci") {
		t.Error("a skill exists for a profile that does not, or that denies it")
	}
	put("red", Profile{Allow: []string{"a"}, Timeout: 90e9})
	put("blue", Profile{Allow: []string{}})
	put("ci", Profile{})
	if !exists("red") || exists("blue") || exists("ci") {
		t.Errorf("red %t, blue %t, ci %t", exists("red"), exists("blue"), exists("ci"))
	}
	all := p.options.NamedProfiles(t.Context())
	if len(all) != 3 || all[0].Name != "blue" || all[0].Allow == nil || !all[1].Configured || all[2].Timeout != 90e9 {
		t.Errorf("%+v", all)
	}
	row, err := writer.tables[profileRow].Get(t.Context(), writer.person+rowKey("red"))
	if err != nil {
		t.Fatal(err)
	}
	copied := *row
	if err := writer.tables[profileRow].Change(t.Context(), store.Announced, writer.person+rowKey("green"), func(*store.Decision) (*store.Decision, error) { return &copied, nil }); err != nil {
		t.Fatal(err)
	}
	if exists("green") {
		t.Error("a copied row counts")
	}
	if err := writer.RemoveProfile(t.Context(), "red"); err != nil || exists("red") {
		t.Errorf("removed: %v", err)
	}
}
