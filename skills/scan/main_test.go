package scan

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/skills"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files makes a file system of contents by path.
func files(contents map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, content := range contents {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		fsys[name] = &fstest.MapFile{Data: []byte(content), Mode: mode}
	}
	return fsys
}

// scanFiles scans one root of files.
func scanFiles(t *testing.T, contents map[string]string, change ...func(*Root)) *skills.Catalog {
	t.Helper()
	root := Root{Source: skills.SourceExtra, FS: files(contents), Label: "root"}
	for _, c := range change {
		c(&root)
	}
	catalog, err := Scan(t.Context(), []Root{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// loadSkill loads one SKILL.md in the folder demo, beside other files.
func loadSkill(t *testing.T, skillMD string, others ...string) (*skills.Skill, *skills.Catalog) {
	t.Helper()
	contents := map[string]string{"demo/SKILL.md": skillMD}
	for _, name := range others {
		contents["demo/"+name] = "#!/bin/bash\necho\n"
	}
	catalog := scanFiles(t, contents)
	if catalog.Count() != 1 {
		t.Fatalf("loaded %d skills; problems: %v", len(catalog.Skills), catalog.Problems)
	}
	return catalog.Skills[0], catalog
}

// lines renders problems, one a line, without their columns: TestPositions has
// those.
func lines(problems []skills.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		p.Col = 0
		fmt.Fprintln(&b, p)
	}
	return b.String()
}
