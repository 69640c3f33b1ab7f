package invocation

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestWriteFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	files := []sandbox.File{{Name: "a.txt", Data: []byte("a")}, {Name: "deep/er/b.txt", Data: []byte("b")}}
	expect := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	var stderr strings.Builder
	given := &RunArgs{out: dir}
	if err := writeFiles(given, files, &stderr); err != nil {
		t.Fatal(err)
	}
	if want := "skills-mcp: wrote " + filepath.Join(dir, "a.txt") + " (1 bytes)\nskills-mcp: wrote " + filepath.Join(dir, "deep/er/b.txt") + " (1 bytes)\n"; stderr.String() != want {
		t.Errorf("said %q, want %q", stderr.String(), want)
	}
	expect("a.txt", "a")
	expect("deep/er/b.txt", "b")

	files[0].Data = []byte("other")
	err := writeFiles(given, append(files[:1:1], sandbox.File{Name: "c.txt", Data: []byte("c")}), &stderr)
	if want := filepath.Join(dir, "a.txt") + " exists; add --force to overwrite it, or name another folder with --out"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	expect("a.txt", "a")
	expect("c.txt", "c")
	given.force = true
	if err := writeFiles(given, files, &stderr); err != nil {
		t.Fatal(err)
	}
	expect("a.txt", "other")
}

// Neither names nor links lead out of the folder.
func TestWriteFilesStaysInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links need rights here")
	}
	dir, outside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"folder": outside, "file": victim} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"folder/victim", "folder/new", "../up"} {
		if err := writeFiles(&RunArgs{out: dir, force: true}, []sandbox.File{{Name: name, Data: []byte("theirs")}}, io.Discard); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if err := writeFiles(&RunArgs{out: dir, force: true}, []sandbox.File{{Name: "file", Data: []byte("theirs")}}, io.Discard); err != nil {
		t.Fatal(err) // in place of the link
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
		t.Errorf("what the link led to is %q, %v", got, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

func TestTakeOutNames(t *testing.T) {
	var stderr bytes.Buffer
	left := sandbox.Files{Taken: []sandbox.File{{Name: "a.txt", Data: []byte("a")}, {Name: "b\u009b2J", Data: nil}}, Left: []string{`"c": it is no regular file`}}
	if err := TakeOut(&RunArgs{}, left, &stderr); err != nil {
		t.Fatal(err)
	}
	want := "skills-mcp: not taken from /out: \"c\": it is no regular file\nskills-mcp: left in /out: a.txt (1 bytes), b (0 bytes); add --out DIR to keep them\n"
	if got := stderr.String(); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
