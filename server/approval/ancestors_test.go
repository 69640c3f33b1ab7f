package approval

import (
	"testing"
	"testing/synctest"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// A yes for all later calls of a stranger's skill that may write or reach hosts ends with any
// change of its files; of one that may do neither it goes on, as that of the person's own.
func TestEndsWithFiles(t *testing.T) {
	strangers := map[string]func(*run.Proposal){
		"own":       func(*run.Proposal) {},
		"installed": func(p *run.Proposal) { p.Skill.Installed = true },
		"plugin":    func(p *run.Proposal) { p.Skill.Plugin = "office" },
		"workspace": func(p *run.Proposal) { p.Skill.Workspace, p.Skill.Trusted = "/work", true },
		"system":    func(p *run.Proposal) { p.Skill.Source = "system" },
	}
	grants := map[string]func(*run.Proposal){
		"writes": func(*run.Proposal) {},
		"hosts": func(p *run.Proposal) {
			p.Command.Grant.Write, p.Command.Grant.Hosts = false, []string{"example.com:443"}
		},
		"neither": func(p *run.Proposal) { p.Command.Grant.Write = false },
	}
	for origin, of := range strangers {
		for grant, given := range grants {
			a := newApprovals(t, nil)
			call := func(digest string, ancestors ...string) *run.Proposal {
				p := proposed(nil)
				of(p)
				given(p)
				p.Digest, p.Decision.Ancestors = digest, ancestors
				return p
			}
			confirm(t, a, deferred(t, a, call("sha256:1")), Local(), Always)
			want := "runs"
			if origin != "own" && grant != "neither" {
				want = "APPROVAL_REQUIRED+id!"
			}
			if got := outcome(a.Approve(t.Context(), call("sha256:2", "sha256:1"))); got != want {
				t.Errorf("%s, %s: %s, want %s", origin, grant, got, want)
			}
			if got := outcome(a.Approve(t.Context(), call("sha256:1", "sha256:2"))); got != "runs" {
				t.Errorf("%s, %s: the old files: %s", origin, grant, got)
			}
		}
	}
}

// A yes for all later calls holds for changed files that have gained nothing, and for no
// others; one for a session, or for one call, holds for the files that were shown.
func TestWhileItDoesNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for scope, want := range map[Scope]string{Always: "runs", Session: "APPROVAL_REQUIRED", Once: "APPROVAL_REQUIRED"} {
			asked := &person{answers: []string{choose(scope), choose(No), choose(No)}, after: unread}
			a := newApprovals(t, &Options{Forms: FormsAll})
			first := proposed(asked.client())
			if err := a.Approve(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			moved := proposed(asked.client())
			moved.Digest, moved.Decision.Ancestors = "sha256:fedcba9876543210fedc", []string{"sha256:1", first.Digest}
			if got := outcome(a.Approve(t.Context(), moved)); got != want {
				t.Errorf("%s, moved: %s, want %s", scope, got, want)
			}
			changed := proposed(asked.client())
			changed.Digest = "sha256:00112233445566778899"
			if got := outcome(a.Approve(t.Context(), changed)); got != "APPROVAL_REQUIRED" {
				t.Errorf("%s, changed: %s", scope, got)
			}
		}
	})
}
