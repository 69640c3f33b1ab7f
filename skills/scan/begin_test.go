package scan

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A keptSkills is a cache that nothing is found in.
type keptSkills struct {
	mu     sync.Mutex
	files  []string
	closed int
}

func (k *keptSkills) Skill(string, *skills.Skill) bool { return false }
func (k *keptSkills) KeepSkill(_ string, skill *skills.Skill, _ []Look) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files = append(k.files, skill.File)
}
func (k *keptSkills) Folder(string) ([]fs.DirEntry, bool) { return nil, false }
func (k *keptSkills) KeepFolder(Look, []fs.DirEntry)      {}
func (k *keptSkills) Close()                              { k.closed++ }

// A scan that takes long has a first part, and the next scan reads only the rest: both
// are one in the cache.
func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 50
		dir := t.TempDir()
		for i := range count {
			at := filepath.Join(dir, fmt.Sprintf("skill-%02d", i))
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte("---\ndescription: d\n---\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cache, opened := &keptSkills{}, 0
		s := NewScanner([]Root{{Dir: dir}}, &Options{
			Cache:    func() Cache { opened++; return cache },
			Disabled: func(string, ...string) string { time.Sleep(time.Second); return "" }, // so long takes a skill
		})
		part, all, err := s.Begin(t.Context(), time.Now().Add(5*time.Second))
		if err != nil || all || len(part.Skills) == 0 || len(part.Skills) == count || len(part.Problems) > 0 {
			t.Fatalf("the first part has %d skills and %d problems, all is %t, %v", len(part.Skills), len(part.Problems), all, err)
		}
		whole, err := s.Rescan(t.Context(), nil)
		if err != nil || len(whole.Skills) != count {
			t.Fatalf("then there are %d skills, %v", len(whole.Skills), err)
		}
		for _, skill := range part.Skills {
			if !slices.Contains(whole.Skills, skill) {
				t.Errorf("%s was read twice", skill.Name)
			}
		}
		if len(cache.files) != count || opened != 1 || cache.closed != 1 {
			t.Errorf("the cache has %d skills, and was opened %d times and closed %d times", len(cache.files), opened, cache.closed)
		}
		if again, err := s.Rescan(t.Context(), nil); again != whole || err != nil {
			t.Errorf("another catalog without a change, %v", err)
		}
		if full, all, err := NewScanner([]Root{{Dir: dir}}, nil).Begin(t.Context(), time.Now().Add(time.Hour)); !all || err != nil || len(full.Skills) != count {
			t.Errorf("in time there are %d skills, all is %t, %v", len(full.Skills), all, err)
		}
	})
}

// Folders that were watched before they were read are looked at by Recheck alone, where no
// link leads out of them.
func TestRecheckUnwatched(t *testing.T) {
	base := realTempDir(t)
	root, target := filepath.Join(base, "skills"), filepath.Join(base, "linked.md")
	for _, dir := range []string{"watched", "other", "linked"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	edit := func(file, description string) {
		t.Helper()
		must(t, os.WriteFile(file, []byte("---\ndescription: "+description+"\n---\n"), 0o644))
	}
	edit(filepath.Join(root, "watched", "SKILL.md"), "old")
	edit(filepath.Join(root, "other", "SKILL.md"), "old")
	edit(target, "old")
	if err := os.Symlink(target, filepath.Join(root, "linked", "SKILL.md")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	s := NewScanner([]Root{{Dir: root}}, &Options{Ahead: func(folder string) bool { return filepath.Base(folder) != "other" }})
	_, err := s.Scan(t.Context())
	must(t, err)
	edit(filepath.Join(root, "watched", "SKILL.md"), "new")
	edit(filepath.Join(root, "other", "SKILL.md"), "new")
	edit(target, "new")
	got := func(recheck func(context.Context) (*skills.Catalog, error)) (all []string) {
		t.Helper()
		catalog, err := recheck(t.Context())
		must(t, err)
		for _, skill := range catalog.Skills {
			all = append(all, skill.Name+" "+skill.Description)
		}
		slices.Sort(all)
		return all
	}
	if all := got(s.RecheckUnwatched); !slices.Contains(all, "watched old") || !slices.Contains(all, "other new") {
		t.Errorf("of what is not watched: %q", all)
	}
	if all := got(s.Recheck); slices.ContainsFunc(all, func(skill string) bool { return strings.HasSuffix(skill, " old") }) {
		t.Errorf("of all: %q", all)
	}
	if s.Watched(filepath.Join(root, "other")) != nil || len(s.Watched(filepath.Join(root, "watched"))) != 1 {
		t.Error("the entries of the watched folders are not known, or those of others are")
	}
}
