// Package shortcut adds the page to the applications of a person. Start with [Add].
package shortcut

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// desktopEntry is the entry that Linux packages install.
//
//go:embed skills-mcp.desktop
var desktopEntry string

// A shortcut is a file among a person's applications. It runs "skills-mcp ui" in a terminal
// that the desktop opens, and holds no secret: the link that signs in is made at each start.
type shortcut struct {
	path, content string
	mode          os.FileMode
}

// newShortcut returns the shortcut to a program, an absolute path, on an operating system
// with Go's name.
func newShortcut(system, home, program string) (*shortcut, error) {
	if home == "" {
		return nil, fmt.Errorf("there is no home folder for a shortcut")
	}
	if strings.ContainsFunc(program, unicode.IsControl) {
		return nil, fmt.Errorf("a shortcut cannot name %q; move the program to a folder without control characters", program)
	}
	switch system {
	case "windows":
		file := filepath.Join(home, "AppData", "Roaming", "Microsoft", "Windows", "Start Menu", "Programs", "Skills.cmd")
		return &shortcut{file, "@\"" + strings.ReplaceAll(program, "%", "%%") + "\" ui\r\n", 0o644}, nil
	case "darwin":
		quoted := "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
		return &shortcut{filepath.Join(home, "Applications", "Skills.command"), "#!/bin/sh\nexec " + quoted + " ui\n", 0o755}, nil
	}
	// Quoted as an argument, and escaped again as a value: the Desktop Entry Specification,
	// "The Exec key".
	argument := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`, "%", "%%").Replace(program)
	quoted := `"` + strings.ReplaceAll(argument, `\`, `\\`) + `"`
	content := strings.Replace(desktopEntry, "Exec=skills-mcp ", "Exec="+quoted+" ", 1)
	return &shortcut{filepath.Join(home, ".local", "share", "applications", "skills-mcp.desktop"), content, 0o644}, nil
}

// write writes the file, unless it is there already.
func (s *shortcut) write() error {
	if was, err := os.ReadFile(s.path); err == nil && bytes.Equal(was, []byte(s.content)) {
		return nil
	}
	if err := atomicfile.WriteBytes(s.path, []byte(s.content)); err != nil {
		return err
	}
	return os.Chmod(s.path, s.mode)
}

// Add writes the shortcut to this program, and returns its path.
func Add(home string) (path string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	s, err := newShortcut(runtime.GOOS, home, program)
	if err == nil {
		path, err = s.path, s.write()
	}
	if err != nil {
		return "", fmt.Errorf("add the shortcut: %w", err)
	}
	return path, nil
}
