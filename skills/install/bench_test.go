package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// BenchmarkVerify verifies 1,000 skills of ten files and 100 KB each: at most 2 s.
func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	target := Target{Dir: dir, Skills: filepath.Join(dir, "skills"), Plugins: filepath.Join(dir, "plugins"), State: filepath.Join(dir, ".state")}
	i := New(target, nil)
	c, err := i.begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for n := range 1000 {
		name := fmt.Sprintf("skills/skill-%d", n)
		folder := target.host(name)
		for file := range 10 {
			path := filepath.Join(folder, "data", fmt.Sprintf("%d.txt", file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintf("%d %d\n", n, file), 1300)), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		s := lock.State{Name: name, Kind: lock.Skill}
		if s.Files, err = lock.Files(b.Context(), skillfs.DirFS(folder)); err != nil {
			b.Fatal(err)
		}
		if s.Digest, err = snapshot.Digest(b.Context(), skillfs.DirFS(folder)); err != nil {
			b.Fatal(err)
		}
		c.File.Entries[name] = &lock.Entry{State: s}
	}
	if err := c.Write(); err != nil {
		b.Fatal(err)
	}
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if found, err := i.Verify(b.Context()); err != nil || len(found) > 0 {
			b.Fatal(found, err)
		}
	}
}

// BenchmarkInstall installs a skill of 50 files and 1 MB whose fetch costs nothing.
func BenchmarkInstall(b *testing.B) {
	files := map[string]string{"SKILL.md": skill("big", "Is large.", "")}
	for n := range 50 {
		files[fmt.Sprintf("scripts/%d.py", n)] = strings.Repeat(fmt.Sprintf("print(%d)  # a line of a script\n", n), 650)
	}
	for b.Loop() {
		dir := b.TempDir()
		target := Target{Dir: dir, Skills: filepath.Join(dir, "skills"), Plugins: filepath.Join(dir, "plugins"), State: filepath.Join(dir, ".state")}
		fetcher := newFake()
		fetcher.set("big", "1", files)
		plan, err := New(target, &Options{Fetchers: map[source.Kind]Fetcher{source.Git: fetcher}}).Prepare(b.Context(), at1("big"))
		if err == nil {
			err = plan.Commit(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
