package scan

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStale knows an unchanged file by its stamp, or by reading it once, and finds
// every change, even one that leaves size and time.
func TestStale(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string)
		stale  bool
	}{
		"nothing":         {func(*testing.T, string) {}, false},
		"another content": {func(t *testing.T, dir string) { write(t, dir, "a/SKILL.md", skillText("other")) }, true},
		"of the same size, at the same time": {func(t *testing.T, dir string) {
			file := filepath.Join(dir, "a", "SKILL.md")
			before, err := os.Stat(file)
			must(t, err)
			write(t, dir, "a/SKILL.md", skillText("b"))
			must(t, os.Chtimes(file, before.ModTime(), before.ModTime()))
		}, true},
		"the same content": {func(t *testing.T, dir string) {
			file := filepath.Join(dir, "a", "SKILL.md")
			must(t, os.Chtimes(file, time.Time{}, time.Now().Add(-time.Minute)))
		}, true},
		"no file":       {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "a", "SKILL.md"))) }, true},
		"no folder":     {func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "a"))) }, true},
		"more tools":    {func(t *testing.T, dir string) { write(t, dir, "a/tools.yaml", "tools: []\n") }, true},
		"another skill": {func(t *testing.T, dir string) { write(t, dir, "b/SKILL.md", skillText("b")) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := realTempDir(t)
			write(t, dir, "a/SKILL.md", skillText("a"))
			roots := []Root{{Source: skills.SourceUser, Dir: dir}}
			scanner := NewScanner(roots, nil)
			catalog, err := scanner.Scan(t.Context())
			must(t, err)
			test.change(t, dir)
			paths := scanner.Stale(catalog.Skills[0])
			if (len(paths) > 0) != test.stale {
				t.Fatalf("stale: %v", paths)
			}
			if !test.stale {
				return
			}
			got, err := scanner.Rescan(t.Context(), paths)
			must(t, err)
			want, err := Scan(t.Context(), roots, nil)
			must(t, err)
			sameCatalog(t, want, got)
			if len(got.Skills) > 0 && scanner.Stale(got.Skills[0]) != nil && name != "more tools" {
				t.Error("stale after it was read again")
			}
		})
	}
}

// A skill that came since the last scan is found where it would lie, once.
func TestUnread(t *testing.T) {
	dir := realTempDir(t)
	roots := []Root{
		{Source: skills.SourceUser, Dir: filepath.Join(dir, "skills")}, {Source: skills.SourceUser, Dir: filepath.Join(dir, "plugins"), Plugins: true},
		{Source: skills.SourceUser, Dir: filepath.Join(dir, "commands"), Commands: true},
	}
	scanner := NewScanner(roots, nil)
	_, err := scanner.Scan(t.Context())
	must(t, err)
	write(t, dir, "plugins/p/plugin.json", `{"name": "p"}`)
	for name, file := range map[string]string{
		"a": "skills/a/SKILL.md", "ann/b": "skills/ann/b/SKILL.md", "p/c": "plugins/p/skills/c/SKILL.md", "d": "commands/d.md",
	} {
		if paths := scanner.Unread(name, ""); paths != nil {
			t.Errorf("%s: before it is there: %v", name, paths)
		}
		write(t, dir, file, skillText(filepath.Base(name)))
		catalog, err := scanner.Rescan(t.Context(), scanner.Unread(name, ""))
		must(t, err)
		if _, err := catalog.Lookup(filepath.Base(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if paths := scanner.Unread(name, ""); paths != nil {
			t.Errorf("%s: after it was read: %v", name, paths)
		}
	}
	write(t, dir, "skills/broken/SKILL.md", "---\n")
	_, err = scanner.Rescan(t.Context(), scanner.Unread("broken", ""))
	must(t, err)
	if paths := scanner.Unread("broken", ""); paths != nil {
		t.Errorf("what does not load is read at each call: %v", paths)
	}
	file := filepath.Join(dir, "skills", "broken", "SKILL.md")
	if paths := scanner.Unread("p/other", file); paths != nil {
		t.Errorf("what does not load under another name: %v", paths)
	}
	write(t, dir, "skills/broken/SKILL.md", skillText("right"))
	if paths := scanner.Unread("p/other", file); len(paths) != 1 || paths[0] != file {
		t.Errorf("what was corrected: %v", paths)
	}
	write(t, dir, "SKILL.md", skillText("outside"))
	for _, name := range []string{"..", "../skills", ".", "", "a/b/c", "/", `..\x`, "c:x"} {
		if paths := scanner.Unread(name, ""); paths != nil {
			t.Errorf("%q is looked for: %v", name, paths)
		}
	}
}
