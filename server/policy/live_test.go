package policy

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// What a new configuration denies is missing in a policy and a filter that are used, for both
// profiles, and no longer when it is allowed again.
func TestLive(t *testing.T) {
	live := &Live{}
	p := New(&Options{Live: live, Profiles: map[string]Profile{"": {}, "a": {}, "b": {Deny: []string{"oak"}}}})
	missing := func(profile string) bool {
		return p.Missing(t.Context(), identity.Principal{Kind: identity.Model, Profile: profile}, &skills.Skill{Name: "oak"}) != ""
	}
	for i, step := range []struct {
		deny []string
		a, b bool
	}{{nil, false, true}, {[]string{"oak"}, true, true}, {nil, false, true}} {
		if i > 0 {
			live.Replace(&Options{Profiles: map[string]Profile{"": {Deny: step.deny}, "a": {}, "b": {Deny: []string{"oak"}}}})
		}
		if missing("a") != step.a || missing("b") != step.b || p.current().Mode != Confirm {
			t.Errorf("step %d: %t, %t, mode %s", i, missing("a"), missing("b"), p.current().Mode)
		}
	}
	live.Replace(&Options{Mode: ReadOnly, Profiles: map[string]Profile{"": {}}})
	if !missing("b") || p.current().Mode != ReadOnly {
		t.Error("a profile that is gone counts, or the mode does not")
	}
}
