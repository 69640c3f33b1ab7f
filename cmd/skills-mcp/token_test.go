package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A token file is read where neither skills nor other users can.
func TestTokenFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are others there")
	}
	top := t.TempDir()
	const secret = "0123456789abcdef"
	write := func(name string, mode os.FileMode) {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil { // for any umask
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		if err := os.Symlink(filepath.Join(top, target), filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("own/token", 0o600)
	write("own/read-only", 0o400)
	write("own/readable", 0o644)
	write("own/writable", 0o602)
	write("own/group", 0o620)
	write("work/sub/token", 0o600)
	write("skills/demo/token", 0o600)
	write("work-not/token", 0o600)
	link("own/token", "work/link")       // a skill could put another there
	link("work/sub/token", "own/link")   // the file is the skill's to read
	link("work", "alias")                // another name of the workspace
	link("skills/demo", "own/of-skills") // likewise
	reader := &tokenReader{workspaces: []string{filepath.Join(top, "work")}, roots: []string{filepath.Join(top, "skills")}}
	for name, want := range map[string]string{
		"own/token":           "",
		"own/read-only":       "",
		"work-not/token":      "",
		"own/readable":        "has the mode 0644, so other users read or write it; run: chmod 600 ",
		"own/writable":        "has the mode 0602",
		"own/group":           "has the mode 0620",
		"work/sub/token":      "is in the workspace " + reader.workspaces[0],
		"work/link":           "is in the workspace",
		"own/link":            "is in the workspace",
		"alias/sub/token":     "is in the workspace",
		"skills/demo/token":   "is in " + reader.roots[0] + ", where skills are found",
		"own/of-skills/token": "where skills are found",
		"own":                 "is a directory",
		"own/none":            "no such file",
	} {
		got, err := reader.token(filepath.Join(top, name))
		switch {
		case want == "" && (err != nil || got != secret):
			t.Errorf("%s: %q, %v", name, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}
