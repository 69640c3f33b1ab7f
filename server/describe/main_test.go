package describe

import (
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// viewOf returns a view of the skills in some files, by path.
func viewOf(t *testing.T, contents map[string]string) *View {
	t.Helper()
	files := fstest.MapFS{}
	for name, content := range contents {
		files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{Source: skills.SourceUser, FS: files, Label: "root", Plugins: true}, {Source: skills.SourceUser, FS: files, Label: "root"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	name := func(s *skills.Skill) string { return s.PlainToolName() }
	return &View{
		Catalog: catalog, Name: name, Title: name, Library: skillsext.New(catalog, &skillsext.Digests{}),
		Exposed: exposure.Choose(catalog.Skills, exposure.State{}, func(*skills.Skill) exposure.Cost { return exposure.Cost{} }, exposure.Options{}),
	}
}

// lookup returns a skill of a view by its name.
func lookup(t *testing.T, v *View, name string) *skills.Skill {
	t.Helper()
	skill, err := v.Catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return skill
}
