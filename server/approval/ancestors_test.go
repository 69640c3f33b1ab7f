package approval

import (
	"testing"
	"time"
)

// A yes for all later calls holds for changed files that have gained nothing, and for no
// others; one for a session, or for one call, holds for the files that were shown.
func TestWhileItDoesNotGrow(t *testing.T) {
	for scope, want := range map[Scope]string{Always: "runs", Session: "APPROVAL_REQUIRED", Once: "APPROVAL_REQUIRED"} {
		asked := &person{answers: []string{choose(scope), choose(No), choose(No)}, after: time.Millisecond}
		a := newApprovals(t, nil)
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
}
