package skillfs

import (
	"os"
	"path/filepath"
	"testing"
)

// List returns a folder's state and its entries in order; a file has no entries, and no
// link leads out.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/z", "b/a", "b/m"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	info, entries, err := DirFS(dir).List("b")
	if err != nil || !info.IsDir() || len(entries) != 3 || entries[0].Name() != "a" || entries[2].Name() != "z" {
		t.Errorf("entries %v of %v, %v", entries, info, err)
	}
	for _, name := range []string{"file", "out", "missing", "../b"} {
		if _, _, err := DirFS(dir).List(name); err == nil {
			t.Errorf("%s has entries", name)
		}
	}
}
