//go:build unix

package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A named pipe would never end, so it is not read.
func TestNamedPipeIsNotRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good/SKILL.md", skillText("good"))
	for _, name := range []string{"pipe/SKILL.md", "plugin/plugin.json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, plugins := range []bool{false, true} {
		catalog := scanDir(t, dir, plugins)
		if got := lines(catalog.Problems); !plugins && !strings.Contains(got, "pipe/SKILL.md: error: SKILL.md is not a regular file (put a file there)") {
			t.Errorf("problems:\n%s", got)
		}
		if !plugins && len(catalog.Skills) != 1 {
			t.Errorf("skills %v", names(catalog))
		}
	}
}

// A script that is a named pipe, or that nobody may read, cannot run.
func TestScriptThatIsAPipe(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "demo/SKILL.md", "---\nname: demo\ndescription: d\nscript: run.sh\n---\n")
	if err := unix.Mkfifo(filepath.Join(dir, "demo", "run.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	catalog := scanDir(t, dir, false)
	if got := catalog.Skills[0].Unavailable; got != "script run.sh cannot be read: it is not a regular file" {
		t.Errorf("unavailable: %q", got)
	}
}
