package server

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Whatever starts a sandbox needs the scope of calls, installing that of administrators,
// and the rest that to read.
func TestScopeOfRequests(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	promptLibrary(b)
	declare(b, "clock", "script: run.sh\nresources:\n  - {uri: \"clock:now\"}\n  - {uri: \"clock:text\", file: run.sh}\n")
	b.publish()
	for _, test := range []struct {
		method, name, uri string
		want              identity.Scope
	}{
		{"tools/list", "", "", identity.ScopeRead},
		{"initialize", "", "", identity.ScopeRead},
		{"skills/get", "", "skill://demo/run/SKILL.md", identity.ScopeRead},
		{"tools/call", "search_skills", "", identity.ScopeRead},
		{"tools/call", "load_skill", "", identity.ScopeRead},
		{"tools/call", "read_output", "", identity.ScopeRead},
		{"tools/call", "run_skill", "", identity.ScopeRun},
		{"tools/call", "run_code", "", identity.ScopeRun},
		{"tools/call", "open_sandbox", "", identity.ScopeRun},
		{"tools/call", "rate_skill", "", identity.ScopeRun},
		{"tools/call", "reload_skills", "", identity.ScopeRun},
		{"tools/call", "install_skill", "", identity.ScopeAdmin},
		{"tools/call", "demo__run", "", identity.ScopeRun},
		{"tools/call", "demo__guide", "", identity.ScopeRun},
		{"tools/call", "unknown", "", identity.ScopeRun},
		{"tools/call", "", "", identity.ScopeRun},
		{"prompts/get", "demo__guide", "", identity.ScopeRead},
		{"prompts/get", "demo__typed", "", identity.ScopeRun},
		{"prompts/get", "use_skill", "", identity.ScopeRun},
		{"prompts/get", "unknown", "", identity.ScopeRun},
		{"resources/read", "", "skill://demo/run/SKILL.md", identity.ScopeRead},
		{"resources/read", "", "clock:now", identity.ScopeRun},
		{"resources/read", "", "clock:text", identity.ScopeRead},
		{"tasks/get", "", "", identity.ScopeRun},
		{"tasks/update", "", "", identity.ScopeRun},
	} {
		if got := b.published.view.Load().scope(test.method, test.name, test.uri); got != test.want {
			t.Errorf("%s %s%s needs %q, want %q", test.method, test.name, test.uri, got, test.want)
		}
	}
	for _, name := range fixedNames() { // a new tool has to be thought of
		if got := toolScope(name); got == "" {
			t.Errorf("%s has no scope", name)
		}
	}
}
