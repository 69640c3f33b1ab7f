package protect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// held returns a command on hold in a workspace, and the function that ends that.
func held(t *testing.T, g *Guard, outlives time.Duration, workspaces ...string) (*sandbox.Command, func()) {
	t.Helper()
	cmd, release, err := g.Hold(&sandbox.Command{Grant: sandbox.Grant{Workspaces: workspaces, Write: true}}, outlives)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, release
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return strings.Join(all, " ")
}

const allNames = ".claude .envrc .git .github .idea .mcp.json .skills-mcp.yaml .vscode"

// TestLastRemoves has commands of two servers in two workspaces.
func TestLastRemoves(t *testing.T) {
	dir, one, two := t.TempDir(), t.TempDir(), t.TempDir()
	_, endFirst := held(t, New(dir), time.Hour, one, two)
	cmd, endSecond := held(t, New(dir), time.Hour, two)
	if len(cmd.Grant.Covers) != 8 || slices.ContainsFunc(cmd.Grant.Covers, func(c sandbox.Cover) bool { return c.Write }) {
		t.Errorf("covers %+v", cmd.Grant.Covers)
	}
	endFirst()
	if got := names(t, two); got != allNames {
		t.Errorf("while a command runs there is %q", got)
	}
	endSecond()
	if got := names(t, one) + names(t, two); got != "" {
		t.Errorf("afterwards there is %q", got)
	}
}

// TestKeepsOthers has folders that a person fills, replaces or makes while a command runs.
func TestKeepsOthers(t *testing.T) {
	workspace := t.TempDir()
	in := func(name string) string { return filepath.Join(workspace, name) }
	_, end := held(t, New(t.TempDir()), 0, workspace)
	later := time.Now().Add(time.Hour)
	for _, err := range []error{
		os.WriteFile(in(".vscode/tasks.json"), nil, 0o600),
		os.Remove(in(".mcp.json")), os.WriteFile(in(".mcp.json"), nil, 0o600),
		os.Remove(in(".idea")), os.Mkdir(in(".idea"), 0o700), os.Chtimes(in(".idea"), later, later),
		os.Remove(in(".envrc")), os.Symlink("elsewhere", in(".envrc")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	end()
	if got := names(t, workspace); got != ".envrc .idea .mcp.json .vscode" {
		t.Errorf("left is %q", got)
	}
}

// TestUnmakeable wants an error where a missing path cannot be made, and nothing left.
func TestUnmakeable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may write to all folders")
	}
	workspace := t.TempDir()
	if err := os.Chmod(workspace, 0o500); err != nil {
		t.Fatal(err)
	}
	_, _, err := New(t.TempDir()).Hold(&sandbox.Command{Grant: sandbox.Grant{Workspaces: []string{workspace}, Write: true}}, 0)
	if err == nil || !strings.Contains(err.Error(), ".git cannot be protected") {
		t.Errorf("error %v", err)
	}
}
