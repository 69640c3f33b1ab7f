package run

import (
	"errors"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A profile has as many runs at once as its decision says; other profiles, and calls that
// a run makes, do not count.
func TestRunning(t *testing.T) {
	var r running
	of := func(profile string, most int, parent string) *Proposal {
		return &Proposal{Principal: identity.Principal{Profile: profile}, Decision: &Decision{Concurrent: most}, Parent: parent}
	}
	enter := func(p *Proposal) func() {
		t.Helper()
		leave, err := r.enter(p)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	one, two := enter(of("ci", 2, "")), enter(of("ci", 2, ""))
	_, err := r.enter(of("ci", 2, ""))
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != Busy || !e.Retryable {
		t.Errorf("a third: %v", err)
	}
	enter(of("ci", 2, "run-outer"))()
	enter(of("other", 1, ""))()
	enter(of("", 0, ""))()
	one()
	enter(of("ci", 2, ""))()
	two()
	if len(r.counts) != 0 {
		t.Errorf("left %v", r.counts)
	}
}
