package check

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const colons = "---\nname: demo\ndescription: a: b\n---\n"

// skillFile writes a SKILL.md and returns its path.
func skillFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "SKILL.md")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *Repair {
	t.Helper()
	r, err := Open(path, false)
	if err != nil || r == nil {
		t.Fatalf("repair %v, error %v", r, err)
	}
	return r
}

// want looks at a file, and that nothing else is in its folder.
func want(t *testing.T, path, text string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file is %q, %v; want %q", got, err, text)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func TestWrite(t *testing.T) {
	for _, mode := range []os.FileMode{0o644, 0o600, 0o755} {
		path := skillFile(t, colons, mode)
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := open(t, path).Write(); err != nil {
			t.Fatal(err)
		}
		want(t, path, "---\nname: demo\ndescription: 'a: b'\n---\n")
		if after, err := os.Stat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("the mode is %v, %v; want %v", after.Mode(), err, before.Mode())
		}
		if r, err := Open(path, false); r != nil || err != nil {
			t.Errorf("there is more to mend: %v, %v", r, err)
		}
	}
}

func TestWriteRefusesWhatHasChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"content": func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o644) },
		"gone":    os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			path := skillFile(t, colons, 0o644)
			r := open(t, path)
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			err := r.Write()
			if name == "gone" {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("error %v", err)
				}
				return
			}
			if !errors.Is(err, ErrChanged) {
				t.Errorf("error %v", err)
			}
			want(t, path, "theirs")
		})
	}
}

func TestWriteRefusesReadOnly(t *testing.T) {
	path := skillFile(t, colons, 0o444)
	if err := open(t, path).Write(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
	want(t, path, colons)
}

// A link, a folder and a file of another kind are left alone.
func TestOpenLeavesOthersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links need rights here")
	}
	target := skillFile(t, colons, 0o644)
	dir := t.TempDir()
	if err := os.Symlink(target, filepath.Join(dir, "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "SKILL.md"), dir} {
		if r, err := Open(path, false); r != nil || err != nil {
			t.Errorf("%s: %v, %v", path, r, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "gone"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
