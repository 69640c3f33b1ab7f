package live

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

func TestTouched(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	catalog := &skills.Catalog{Skills: []*skills.Skill{
		{Name: "folder", Dir: at("a/folder"), File: at("a/folder/SKILL.md")},
		{Name: "packed", File: at("a/packed.zip/in/SKILL.md")},
		{Name: "bundled", File: "bundled:x/SKILL.md"},
	}}
	for path, want := range map[string][]string{
		"a/folder/run.sh": {"folder"},
		"a/packed.zip":    {"packed"},
		"a":               {"folder", "packed"},
		"a/packed":        nil,
		"b":               nil,
	} {
		var got []string
		for _, skill := range touched(catalog, []string{at(path)}) {
			got = append(got, skill.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s touched %q, want %q", path, got, want)
		}
	}
}
