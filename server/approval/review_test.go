package approval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// The question about an installation has all its lines, and else no form.
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
	for _, want := range []string{"install_skill wants to install a skill (source=owner/repo), yes or no?\n", `"owner/repo"`, "> \"report\", a skill", "> line 59"} {
		if !strings.Contains(form, want) {
			t.Errorf("the form lacks %q:\n%s", want, form)
		}
	}
	if q.fitsForm() {
		t.Error("it fits a form")
	}
	if whole := strings.Join(q.Terminal(), "\n"); !strings.Contains(whole, "> line 59") || strings.Contains(whole, "write to") {
		t.Errorf("on a terminal:\n%s", whole)
	}
	if got := q.summary(); got != `install_skill wants to install a skill (source=owner/repo) (digest 0123456789ab). It would install "report".` {
		t.Error(got)
	}
	if q.Action() != "install it" || len(q.Scopes) != 1 || q.Scopes[0] != Once {
		t.Error(q.Action(), q.Scopes)
	}
}

// The question about a call names the packages that are installed for it.
func TestPackages(t *testing.T) {
	p := proposed(nil)
	p.Command.Dependencies = []sandbox.Dependencies{{Packages: []string{"@a/b@latest"}}, {Packages: strings.Fields("c==1 d e f g")}}
	const want = "edit.py, installs @a/b@latest, c==1, d, e, f, …"
	if q := newQuestion(p); q.Runs != want || !strings.Contains(q.Form(), want) {
		t.Errorf("%s\n%s", q.Runs, q.Form())
	}
	p.Skill.Entry.Server, p.Command.Dependencies = &skills.ServerCall{Server: skills.MCPServer{Command: "npx a"}}, p.Command.Dependencies[:1]
	if q := newQuestion(p); q.Runs != "the MCP server npx a, installs @a/b@latest" {
		t.Error(q.Runs)
	}
}
