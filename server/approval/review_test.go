package approval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// The question about an installation has its lines whole on a terminal, and as many as fit
// in a form.
func TestReview(t *testing.T) {
	review := &run.Review{Digest: "sha256:0123456789abcdef", Summary: "would install \"report\".", Lines: []string{"> \"report\", a skill"}}
	for i := range 60 {
		review.Lines = append(review.Lines, fmt.Sprintf("> line %d", i))
	}
	q := newQuestion(&run.Proposal{
		Action: run.ActionInstall, Review: review, Digest: review.Digest, Args: map[string]any{"source": "owner/repo"}, Command: &sandbox.Command{},
		Skill: &skills.Skill{Name: "install_skill", Class: skills.Dangerous}, Decision: &run.Decision{Class: skills.Dangerous, Signatures: 1, Each: true},
	})
	form := q.Form()
	for _, want := range []string{"may this be installed?", "It is asked for by a model", `owner/repo`, "> \"report\", a skill", "> line 21", "38 MORE LINES ARE NOT SHOWN", "Install it?"} {
		if !strings.Contains(form, want) {
			t.Errorf("the form lacks %q:\n%s", want, form)
		}
	}
	if n := strings.Count(form, "\n") + 1; n > 32 {
		t.Errorf("the form has %d lines", n)
	}
	if whole := strings.Join(q.Terminal(), "\n"); !strings.Contains(whole, "> line 59") || strings.Contains(whole, "write to") {
		t.Errorf("on a terminal:\n%s", whole)
	}
	if got := q.summary(); got != `install_skill (0123456789ab) would install "report".` {
		t.Error(got)
	}
	if q.Action() != "install it" || len(q.Scopes) != 1 || q.Scopes[0] != Once {
		t.Error(q.Action(), q.Scopes)
	}
}
