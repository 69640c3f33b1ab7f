package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A refusal tells people the fact, and a model its next step besides. No name is more than
// a line, and no name that a shell could read is in a command.
func TestAudiences(t *testing.T) {
	model := identity.Principal{Kind: identity.Model, Profile: "p"}
	skill := func(name string, class skills.Class) *skills.Skill {
		return &skills.Skill{Name: name, Class: class, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"}}
	}
	private, reaching, lost := skill("a", skills.Safe), skill("a", skills.Safe), skill("a", skills.Mutating)
	private.ModelInvocable, reaching.Entry.Network, lost.Workspace = false, []string{"10.1.2.3:80"}, "/lost"
	no := false
	for name, test := range map[string]struct {
		skill   *skills.Skill
		options Options
		person  string // the end of the message
	}{
		"dangerous":              {skill("wipe", skills.Dangerous), Options{}, "no rule of yours names it; name it in policy.skills of the configuration, or with: skills-mcp grant wipe --approve each"},
		"dangerous, a hard name": {skill("x; rm -rf ~\n", skills.Dangerous), Options{}, `skill x; rm -rf ~\n is dangerous, and no rule of yours names it; name it in policy.skills of the configuration`},
		"disabled":               {skill("a\nb", skills.Safe), Options{Rules: []Rule{{Pattern: "*", Enabled: &no, Name: "r"}}}, `skill a\nb is not available: it is disabled by r`},
		"read-only":              {skill("a", skills.Mutating), Options{Mode: ReadOnly}, "runs safe skills only"},
		"a profile's class":      {skill("a", skills.Mutating), Options{Profiles: map[string]Profile{"p": {Class: skills.Safe}}}, "allows at most safe"},
		"private":                {private, Options{}, "may be called by a person only"},
		"a private address":      {reaching, Options{}, `sandbox.network.allow in the configuration lacks "10.1.2.3:80"`},
		"a lost workspace":       {lost, Options{Workspaces: proposals{}}, "which cannot be trusted: it is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.options.Profiles == nil {
				test.options.Profiles = map[string]Profile{"p": {}}
			}
			_, err := New(&test.options).Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: test.skill, Principal: model})
			e, ok := errors.AsType[*run.Error](err)
			if !ok || !strings.HasSuffix(e.Message, test.person) || strings.Contains(e.Message, "\n") {
				t.Fatalf("a person reads %v", err)
			}
			told := e.ForModel().Message
			if words := []string{"tell the person", "tell them", "ask the person"}; !containsAny(told, words) || containsAny(e.Message, append(words, "do not try")) {
				t.Errorf("a person reads %q, a model %q", e.Message, told)
			}
			if strings.Contains(told, "skills-mcp") {
				t.Errorf("a model reads a command: %q", told)
			}
		})
	}
}

func containsAny(text string, words []string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
