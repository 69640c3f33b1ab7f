package scan

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
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
			paths := scanner.Stale(t.Context(), catalog.Skills[0])
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
			if len(got.Skills) > 0 && scanner.Stale(t.Context(), got.Skills[0]) != nil && name != "more tools" {
				t.Error("stale after it was read again")
			}
		})
	}
}

// TestStaleScript reads a skill again once its script, which was missing, can be read, and
// not before.
func TestStaleScript(t *testing.T) {
	const tools = "tools:\n- {name: own, script: run.py}\n- {name: call, script: run.py, function: f}\n"
	for _, name := range []string{"a", "a__own", "a__call"} {
		t.Run(name, func(t *testing.T) {
			dir := realTempDir(t)
			write(t, dir, "a/SKILL.md", "---\nname: a\ndescription: d\nscript: run.py\n---\n")
			write(t, dir, "a/tools.yaml", tools)
			roots := []Root{{Source: skills.SourceUser, Dir: dir}}
			scanner := NewScanner(roots, nil)
			catalog, err := scanner.Scan(t.Context())
			must(t, err)
			check := func(what, unavailable string, stale bool) []string {
				t.Helper()
				skill, err := catalog.Lookup(name)
				must(t, err)
				paths := scanner.Stale(t.Context(), skill)
				if slices.Contains(paths, filepath.Join(dir, "a", "SKILL.md")) != stale || skill.Unavailable != unavailable {
					t.Errorf("%s: unavailable: %q; stale: %q", what, skill.Unavailable, paths)
				}
				return paths
			}
			const reason = "script run.py does not exist"
			check("without the script", reason, false)
			script := filepath.Join(dir, "a", "run.py")
			must(t, os.Mkdir(script, 0o755))
			check("with a folder of its name", reason, false)
			must(t, os.Remove(script))
			write(t, dir, "a/run.py", "def f(): pass\n")
			catalog, err = scanner.Rescan(t.Context(), check("with the script", reason, true))
			must(t, err)
			want, err := Scan(t.Context(), roots, nil)
			must(t, err)
			sameCatalog(t, want, catalog)
			check("read again", "", false)
		})
	}
}

// TestStaleWaits waits for a script only where one may have been removed a moment ago.
func TestStaleWaits(t *testing.T) {
	for name, test := range map[string]struct {
		changed, comes, waits time.Duration // the folder, the script, and the call
		stale                 bool
	}{
		"a moment ago":             {-10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond, true},
		"a moment ago, for good":   {-10 * time.Millisecond, time.Second, 40 * time.Millisecond, false},
		"long ago":                 {-time.Second, 20 * time.Millisecond, 0, false},
		"on a file server's clock": {time.Second, 20 * time.Millisecond, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := realTempDir(t)
			write(t, dir, "a/SKILL.md", "---\nname: a\ndescription: d\nscript: run.sh\n---\n")
			scanner := NewScanner([]Root{{Source: skills.SourceUser, Dir: dir}}, nil)
			catalog, err := scanner.Scan(t.Context())
			must(t, err)
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				must(t, os.Chtimes(filepath.Join(dir, "a"), time.Time{}, began.Add(test.changed)))
				time.AfterFunc(test.comes, func() { write(t, dir, "a/run.sh", "echo\n") })
				if got := len(scanner.Stale(t.Context(), catalog.Skills[0])) > 0; got != test.stale {
					t.Errorf("stale: %t", got)
				}
				if waited := time.Since(began); waited != test.waits {
					t.Errorf("it waited %s", waited)
				}
				time.Sleep(test.comes)
				synctest.Wait()
			})
		})
	}
}

// A skill that came since the last scan is found, once its folder did not change for a while.
func TestChanged(t *testing.T) {
	dir := realTempDir(t)
	roots := []Root{
		{Source: skills.SourceUser, Dir: filepath.Join(dir, "skills")}, {Source: skills.SourceUser, Dir: filepath.Join(dir, "plugins"), Plugins: true},
		{Source: skills.SourceUser, Dir: filepath.Join(dir, "commands"), Commands: true},
	}
	scanner := NewScanner(roots, nil)
	_, err := scanner.Scan(t.Context())
	must(t, err)
	recheck := func() *skills.Catalog {
		t.Helper()
		catalog, err := scanner.Recheck(t.Context())
		must(t, err)
		scanner.last.looked = time.Now().Add(3 * time.Second) // as if the files were old
		if paths := scanner.Changed(); paths != nil {
			t.Errorf("changed after they were read: %v", paths)
		}
		scanner.last.looked = time.Now()
		return catalog
	}
	write(t, dir, "plugins/p/plugin.json", `{"name": "p"}`)
	for name, file := range map[string]string{
		"a": "skills/a/SKILL.md", "ann/b": "skills/ann/b/SKILL.md", "p/c": "plugins/p/skills/c/SKILL.md", "d": "commands/d.md",
	} {
		write(t, dir, file, skillText(filepath.Base(name)))
		if _, err := recheck().Lookup(filepath.Base(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, dir, "skills/broken/SKILL.md", "---\n")
	recheck()
	write(t, dir, "skills/broken/SKILL.md", skillText("right"))
	if _, err := recheck().Lookup("right"); err != nil {
		t.Errorf("what was corrected: %v", err)
	}
}
