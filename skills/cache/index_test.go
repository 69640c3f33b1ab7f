package cache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The index of the same version comes back whole, and a damaged one not at all.
func TestIndex(t *testing.T) {
	file := filepath.Join(tempDir(t), "new", "index")
	x := NewIndex(file, &Options{Version: "1"})
	if got := x.Load(); got != "" {
		t.Errorf("without a file: %q", got)
	}
	for _, content := range []string{"first", strings.Repeat("second ", 1000)} {
		x.Save(content)
		if got := NewIndex(file, &Options{Version: "1"}).Load(); got != content {
			t.Errorf("saved %.20q, got %.20q", content, got)
		}
	}
	if got := NewIndex(file, &Options{Version: "2"}).Load(); got != "" {
		t.Errorf("of another version: %.20q", got)
	}
	good, err := os.ReadFile(file)
	must(t, err)
	for _, at := range []int{0, len(magic), len(magic) + 100, len(good) - footerSize - 1, len(good) - 1} {
		damaged := []byte(string(good))
		damaged[at] ^= 1
		must(t, os.WriteFile(file, damaged, 0o600))
		if got := x.Load(); got != "" {
			t.Errorf("byte %d is another: %.20q", at, got)
		}
	}
	root := tempDir(t)
	makeSkills(t, root, 3)
	scanned(t, root, file, "1") // the cache of skills, in the place of an index
	if got := x.Load(); got != "" {
		t.Errorf("another cache: %.20q", got)
	}
}
