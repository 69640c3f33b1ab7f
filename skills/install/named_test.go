package install

import (
	"context"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// owner/repo@skill installs that skill of several.
func TestSkillNamedInSource(t *testing.T) {
	f := newFixture(t)
	f.fake.set("many", "1", map[string]string{
		"a/SKILL.md": skill("a", "The first.", "one\n"), "b/SKILL.md": skill("b", "The second.", "two\n"),
	})
	r := at1("many")
	r.Source.Name = "b"
	plan := f.commit(f.Prepare(t.Context(), r))
	if len(plan.Items) != 1 || plan.Items[0].Path != "skills/b" {
		t.Errorf("installed %+v", plan.Items)
	}
}

// asked notes the sources whose revisions are asked for.
type asked struct {
	*fake
	names []string
}

func (a *asked) Revision(ctx context.Context, s source.Source) (string, error) {
	a.names = append(a.names, s.Name)
	return a.fake.Revision(ctx, s)
}

// A site with a discovery index states a digest for each skill: a change of another one
// does not make a skill outdated.
func TestRevisionOfOneSkillOfAnIndex(t *testing.T) {
	f := newFixture(t)
	fetcher := &asked{fake: f.fake}
	f.options.Fetchers[source.Index] = fetcher
	f.fake.set("site", "1", map[string]string{"SKILL.md": skill("pdf", "Reads PDF files.", "one\n")})
	r := at1("site")
	r.Source.Kind = source.Index
	f.commit(f.Prepare(t.Context(), r))
	fetcher.names = nil
	if all, err := f.Outdated(t.Context()); err != nil || len(all) != 1 || all[0].Outdated {
		t.Errorf("%+v, %v", all, err)
	}
	if len(fetcher.names) != 1 || fetcher.names[0] != "pdf" {
		t.Errorf("asked for the revisions of %q", fetcher.names)
	}
}
