package approval

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A no stands for ten minutes: the same call of the same session is refused without a
// question, and says when it may be asked about again.
func TestNoStands(t *testing.T) {
	for name, answer := range map[string]string{"no": choose(No), "declined": `{"action":"decline"}`, "dismissed": `{"action":"cancel"}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, nil)
				who := &person{after: unread}
				for range 20 {
					who.answers = append(who.answers, answer)
				}
				call := func(asks bool, change func(*run.Proposal)) {
					t.Helper()
					p, before := proposed(who.client()), len(who.asked)
					change(p)
					err := a.Approve(t.Context(), p)
					if got := outcome(err); got != "APPROVAL_REQUIRED" || (len(who.asked) > before) != asks {
						t.Errorf("%s, asked %d times before and %d after", got, before, len(who.asked))
					}
					if !strings.Contains(err.Error(), "the person said no, and is not asked about the same call again before ") {
						t.Error(err)
					}
				}
				same := func(*run.Proposal) {}
				call(true, same)
				for range 6 {
					call(false, same)
				}
				call(true, func(p *run.Proposal) { p.Args["path"] = "b.docx" })
				call(true, func(p *run.Proposal) { p.Skill.Name = "docy" })
				call(true, func(p *run.Proposal) { p.Digest = "sha256:ff" })
				call(true, func(p *run.Proposal) { p.Principal.Session = "2" })
				call(true, func(p *run.Proposal) { p.Principal.Kind = identity.Token })
				call(false, func(p *run.Proposal) { p.Principal.Session = "2" })
				time.Sleep(noStands - 10*unread)
				call(false, same)
				time.Sleep(10 * unread)
				call(true, same)
				a.Leave(proposed(nil).Principal.Key())
				call(true, same)
			})
		})
	}
}

// A yes that comes later, as for all calls, counts in spite of a no.
func TestYesAfterNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil)
		who := &person{answers: []string{choose(No)}, after: unread}
		if got := outcome(a.Approve(t.Context(), proposed(who.client()))); got != "APPROVAL_REQUIRED" {
			t.Fatal(got)
		}
		other := proposed(nil)
		other.Args = nil
		confirm(t, a, deferred(t, a, other), Local(), Always)
		if got := outcome(a.Approve(t.Context(), proposed(who.client()))); got != "runs" {
			t.Error(got)
		}
	})
}

// The noes are bounded, and the oldest goes first.
func TestNoesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		key := func(i int) questionKey { return questionKey{client: identity.Key(fmt.Sprint(i))} }
		for i := range maxNoes + 10 {
			m.refuse(key(i))
			time.Sleep(time.Millisecond)
		}
		_, first := m.refused(key(9))
		_, next := m.refused(key(10))
		if len(m.noes) != maxNoes || first || !next {
			t.Errorf("%d noes, %t, %t", len(m.noes), first, next)
		}
	})
}
