package shortcut

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The shortcut of each system names the program, however its folder is called.
func TestShortcut(t *testing.T) {
	for _, test := range []struct{ system, program, path, line string }{
		{"linux", "/usr/bin/skills-mcp", ".local/share/applications/skills-mcp.desktop", `Exec="/usr/bin/skills-mcp" ui`},
		{"linux", "/a b/50%/\"$HOME`\\/s", ".local/share/applications/skills-mcp.desktop", `Exec="/a b/50%%/\\"\\$HOME\\` + "`" + `\\\\/s" ui`},
		{"darwin", "/Applications/it's/skills-mcp", "Applications/Skills.command", `exec '/Applications/it'\''s/skills-mcp' ui`},
		{"windows", `C:\Users\A B\100%\skills-mcp.exe`, "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Skills.cmd", `@"C:\Users\A B\100%%\skills-mcp.exe" ui` + "\r"},
	} {
		s, err := newShortcut(test.system, "/home/ann", test.program)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join("/home/ann", filepath.FromSlash(test.path)); s.path != want {
			t.Errorf("%s: it is at %s, want %s", test.system, s.path, want)
		}
		found := false
		for line := range strings.SplitSeq(s.content, "\n") {
			found = found || line == test.line
		}
		if !found {
			t.Errorf("%s: no line %s in\n%s", test.system, test.line, s.content)
		}
	}
	for _, home := range []string{"", "/home/ann"} {
		program := "/usr/bin/skills-mcp"
		if home != "" {
			program = "/a\nExec=evil/s"
		}
		if s, err := newShortcut("linux", home, program); err == nil {
			t.Errorf("home %q, program %q: %+v", home, program, s)
		}
	}
}

// The shortcut of macOS runs the program of an odd folder, and is written once.
func TestShortcutRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it is a script of a POSIX shell")
	}
	home, folder := t.TempDir(), filepath.Join(t.TempDir(), "it's $HOME \"here\"")
	program := filepath.Join(folder, "skills-mcp")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"it runs $*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := newShortcut("darwin", home, program)
	if err != nil {
		t.Fatal(err)
	}
	var before os.FileInfo
	for range 2 {
		if err := s.write(); err != nil {
			t.Fatal(err)
		}
		now, err := os.Stat(s.path)
		if err != nil || before != nil && !os.SameFile(before, now) {
			t.Fatalf("it was written again, or is gone: %v", err)
		}
		before = now
	}
	if out, err := exec.Command(s.path).CombinedOutput(); err != nil || string(out) != "it runs ui\n" {
		t.Errorf("%v, %s", err, out)
	}
}
