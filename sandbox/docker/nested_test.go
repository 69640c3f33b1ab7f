package docker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestNestedWorkspaceReplaced has a link in the place of a workspace's parent
// folder, as a command leaves it that may write to the workspace around it.
func TestNestedWorkspaceReplaced(t *testing.T) {
	outer, secret := t.TempDir(), t.TempDir()
	inner := filepath.Join(outer, "a", "inner")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	orders := [][]string{{outer, inner}, {inner, outer}}
	for _, order := range orders {
		cmd := &sandbox.Command{Folder: t.TempDir(), Grant: sandbox.Grant{Workspaces: order}}
		if _, err := mounts(cmd, &image{}); err != nil {
			t.Errorf("mount %q: %v", order, err)
		}
	}
	if err := os.Rename(filepath.Join(outer, "a"), filepath.Join(outer, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(outer, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, inner); err != nil {
		t.Fatal(err)
	}
	for _, order := range orders {
		cmd := &sandbox.Command{Folder: t.TempDir(), Grant: sandbox.Grant{Workspaces: order}}
		if got, err := mounts(cmd, &image{}); err == nil {
			t.Errorf("mount %q: the link would be followed: %+v", order, got)
		}
	}
}
