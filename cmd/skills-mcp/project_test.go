package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A file that is too large is refused, and not read in part.
func TestProjectIsBounded(t *testing.T) {
	dir := t.TempDir()
	text := append([]byte("skills: []\n#"), bytes.Repeat([]byte("x"), maxProject)...)
	for size, want := range map[int]error{maxProject: nil, maxProject + 1: skillfs.ErrTooLarge} {
		if err := os.WriteFile(filepath.Join(dir, config.ProjectFile), text[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		s := &settings{workspaces: []string{dir}}
		if err := s.loadProject(); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
	}
}
