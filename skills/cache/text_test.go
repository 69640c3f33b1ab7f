package cache

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

// makeLong makes n skills with instructions that are too long for memory.
func makeLong(t *testing.T, root string, n int) {
	t.Helper()
	for i := range n {
		write(t, filepath.Join(root, fmt.Sprint("long-", i), "SKILL.md"), fmt.Sprintf("---\ndescription: d\n---\n%s", longBody(i)))
	}
}

func longBody(i int) string { return strings.Repeat(fmt.Sprintf("Line of %d. ", i), 100) + "End." }

func wantText(t *testing.T, s *skills.Skill, want string) {
	t.Helper()
	if got, err := s.Text(); got != want || err != nil {
		t.Errorf("%s: text %.40q, %v; want %.40q", s.Name, got, err, want)
	}
}

// Long instructions stay in the file, and are what they were when it was opened,
// whatever is written under its name since.
func TestLongTexts(t *testing.T) {
	root, file := tempDir(t), filepath.Join(tempDir(t), "cache")
	makeLong(t, root, 3)
	scanned(t, root, file, "1")
	before, hits := scanned(t, root, file, "1")
	if hits != 3 {
		t.Fatalf("%d skills were in the cache", hits)
	}
	write(t, filepath.Join(root, "long-1", "SKILL.md"), "---\ndescription: d\n---\n"+longBody(77))
	scanned(t, root, file, "1") // writes the file anew, with the texts of the old one
	after, hits := scanned(t, root, file, "1")
	if hits != 3 {
		t.Fatalf("%d skills were in the cache after the change", hits)
	}
	for i, s := range before.Skills {
		if lazy != (s.Stored != nil) || lazy && s.Instructions != "" {
			t.Errorf("%s: the instructions are in memory: %.40q", s.Name, s.Instructions)
		}
		wantText(t, s, longBody(i))
		wantText(t, after.Skills[i], longBody(map[int]int{0: 0, 1: 77, 2: 2}[i]))
	}
}

// Long instructions of a first scan are in memory until the file is written, and then
// in it: also those of tools, which are their skill's.
func TestTextsMove(t *testing.T) {
	root, file := tempDir(t), filepath.Join(tempDir(t), "cache")
	makeLong(t, root, 2)
	write(t, filepath.Join(root, "long-1", "run.sh"), "#!/bin/sh\ndate\n")
	catalog, _ := scanned(t, root, file, "1")
	for i, s := range catalog.Skills {
		if lazy && (s.Instructions != "" || !s.HasText()) {
			t.Errorf("%s: the instructions are in memory", s.Name)
		}
		wantText(t, s, longBody(min(i, 1)))
	}
	again, _ := scanned(t, root, file, "1")
	for i, s := range again.Skills {
		wantText(t, s, longBody(min(i, 1)))
	}
	if lazy {
		must(t, os.Truncate(file, 0)) // nobody does it; it shows where the texts are
		for _, s := range catalog.Skills {
			if text, err := s.Text(); err == nil {
				t.Errorf("%s: the text %.40q is in memory", s.Name, text)
			}
		}
	}
}

// A text that was damaged is an error, and not kept again.
func TestDamagedText(t *testing.T) {
	root, file := tempDir(t), filepath.Join(tempDir(t), "cache")
	makeLong(t, root, 2)
	scanned(t, root, file, "1")
	content, err := os.ReadFile(file)
	must(t, err)
	content[len(magic)+5] ^= 1 // in the first text
	must(t, os.WriteFile(file, content, 0o600))
	catalog, _ := scanned(t, root, file, "1")
	if lazy {
		if text, err := catalog.Skills[0].Text(); err == nil || !strings.Contains(err.Error(), filepath.Dir(file)) {
			t.Errorf("text %.40q, %v", text, err)
		}
	} else {
		wantText(t, catalog.Skills[0], longBody(0))
	}
	wantText(t, catalog.Skills[1], longBody(1))
	makeLong(t, root, 3) // so that there is something to keep
	scanned(t, root, file, "1")
	catalog, hits := scanned(t, root, file, "1")
	if hits != 3 {
		t.Errorf("%d skills were in the cache", hits)
	}
	for i, s := range catalog.Skills {
		wantText(t, s, longBody(i))
	}
}

// What claims to be where it cannot be is damage.
func TestTextOutside(t *testing.T) {
	for _, at := range []location{{at: 90, n: 11}, {at: 101, n: 1}, {at: 1, n: 1 << 63}} {
		w := codec{}
		w.location(at, math.MaxUint64)
		r := codec{reading: true, unread: string(w.written)}
		if r.location(location{}, 100); r.err == nil {
			t.Errorf("a text of %d bytes at %d of 100", at.n, at.at)
		}
	}
}
