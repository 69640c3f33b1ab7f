package policy

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An installation needs a rule that names it, and people each time. No rule makes it
// anything else.
func TestInstallation(t *testing.T) {
	off := false
	for name, test := range map[string]struct {
		mode       Mode
		rules      []Rule
		profile    Profile
		signatures int // 0 is refused
	}{
		"without a rule":           {mode: Confirm},
		"named":                    {mode: Confirm, rules: []Rule{{Pattern: "install_skill", Approve: Each}}, signatures: 1},
		"named, always":            {mode: Confirm, rules: []Rule{{Pattern: "install_skill", Approve: Always}}, signatures: 1},
		"named, as safe":           {mode: Confirm, rules: []Rule{{Pattern: "install_skill", Class: skills.Safe}}, signatures: 1},
		"named among others":       {mode: Confirm, rules: []Rule{{Pattern: "install*", Approve: Each}}},
		"all, as safe":             {mode: Confirm, rules: []Rule{{Pattern: "*", Class: skills.Safe, Approve: Always}}},
		"named, and disabled":      {mode: Confirm, rules: []Rule{{Pattern: "install_skill", Name: "mine", Enabled: &off}}},
		"named by a workspace":     {mode: Confirm, rules: []Rule{{Pattern: "install_skill", Approve: Each, Narrows: true}}},
		"named, read-only":         {mode: ReadOnly, rules: []Rule{{Pattern: "install_skill", Approve: Each}}},
		"two people":               {mode: DualSign, rules: []Rule{{Pattern: "install_skill", Approve: Each}}, signatures: 2},
		"a profile of safe skills": {mode: Confirm, rules: []Rule{{Pattern: "install_skill", Class: skills.Safe}}, profile: Profile{Class: skills.Safe}},
	} {
		p := New(&Options{Mode: test.mode, Rules: test.rules, Profiles: map[string]Profile{"p": test.profile}})
		d, err := p.Decide(t.Context(), &run.Proposal{
			Action: run.ActionInstall, Principal: identity.Principal{Kind: identity.Model, Profile: "p"},
			Skill: &skills.Skill{Name: "install_skill", Class: skills.Dangerous, ModelInvocable: true, File: "bundled:install_skill"},
		})
		switch {
		case test.signatures == 0 && codeOf(err) != run.PermissionDenied:
			t.Errorf("%s: %v, %v", name, d, err)
		case test.signatures > 0 && (err != nil || d.Signatures != test.signatures || !d.Each || d.Class != skills.Dangerous):
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
