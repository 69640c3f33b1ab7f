package stamp

import (
	"os"
	"path/filepath"
	"testing"
)

// The identity of a folder stays when its content, mode and name change, and is another
// one's in no case.
func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	path, moved := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	identity := func(path string) string {
		t.Helper()
		id, err := Identity(path)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(path, 0o755))
	first := identity(path)
	must(os.WriteFile(filepath.Join(path, "file"), nil, 0o600))
	must(os.Chmod(path, 0o700))
	must(os.Rename(path, moved))
	if now := identity(moved); now != first {
		t.Errorf("%s became %s", first, now)
	}
	must(os.Symlink(moved, path))
	if link := identity(path); link == first {
		t.Errorf("a link has the identity of its target")
	}
	must(os.Remove(path))
	must(os.Mkdir(path, 0o755))
	if another := identity(path); another == first {
		t.Errorf("another folder has the identity %s", another)
	}
	must(os.Remove(path))
	if _, err := Identity(path); err == nil {
		t.Error("a missing file has an identity")
	}
}
