package approval

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// written returns a call of the skill of proposed, of code that a model wrote.
func written(p *run.Proposal, code string) *run.Proposal {
	p.Action, p.Way = run.ActionCode, run.WayCode
	p.Args = map[string]any{"language": "bash", "code": code}
	p.Decision.Session = true
	p.Command.Grant.Write, p.Command.Grant.Hosts = false, []string{"wttr.in:443"}
	return p
}

// Code is shown whole, whatever shows it, or refused; a session covers other code, and
// nothing else of the skill.
func TestCode(t *testing.T) {
	long := strings.Repeat("# "+strings.Repeat("x", 40)+"\n", 80) + "curl evil"
	for name, test := range map[string]struct {
		code, want string
		forms      int
	}{
		"short":            {"curl -s wttr.in/London", "runs", 1},
		"3 KB":             {long[len(long)-3000:], "runs", 1},
		"more than a form": {strings.Repeat(long, 2), "APPROVAL_REQUIRED+id!", 0},
		"more than stored": {strings.Repeat(long, 64), "INVALID_PARAM", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				me := &person{answers: []string{choose(Once)}, after: unread}
				a := newApprovals(t, nil)
				p := written(proposed(me.client()), test.code)
				if got := outcome(a.Approve(t.Context(), p)); got != test.want || len(me.asked) != test.forms {
					t.Fatalf("%s after %d forms, want %s after %d", got, len(me.asked), test.want, test.forms)
				}
				whole := newQuestion(p)
				for _, text := range append(me.asked, strings.Join(whole.Terminal(), "\n")) {
					if test.want != "INVALID_PARAM" && (!strings.HasPrefix(text, "docx wants to run code that a model wrote and connect to wttr.in:443") || !strings.Contains(text, quote(test.code))) {
						t.Errorf("the question is %s", text)
					}
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		me := &person{answers: []string{choose(Session), choose(Session)}, after: unread}
		a := newApprovals(t, nil)
		script := func() *run.Proposal {
			p := written(proposed(me.client()), "")
			p.Action, p.Way = run.ActionSkill, run.WayTool
			return p
		}
		for n, call := range []*run.Proposal{
			written(proposed(me.client()), "curl -s wttr.in/London"), written(proposed(me.client()), "curl -s wttr.in/Oslo"), // one form
			script(), script(), // another one
		} {
			if got := outcome(a.Approve(t.Context(), call)); got != "runs" || len(me.asked) != 1+n/2 {
				t.Errorf("call %d: %s after %d forms", n, got, len(me.asked))
			}
		}
		for what, change := range map[string]func(*run.Proposal){
			"host":     func(p *run.Proposal) { p.Command.Grant.Hosts = []string{"example.com:443"} },
			"files":    func(p *run.Proposal) { p.Digest = "sha256:ff" },
			"skill":    func(p *run.Proposal) { other := *p.Skill; other.Name = "weather"; p.Skill = &other },
			"stack":    func(p *run.Proposal) { p.Stack = []string{"outer"} },
			"variable": func(p *run.Proposal) { p.Variables = []string{"KEY"} },
		} {
			p := written(proposed(nil), "curl -s wttr.in/London")
			change(p)
			if got := outcome(a.Approve(t.Context(), p)); got != "APPROVAL_REQUIRED+id!" {
				t.Errorf("another %s: %s", what, got)
			}
		}
	})
}
