package setup

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestDefaultWorkspace(t *testing.T) {
	temporary := t.TempDir()
	project := filepath.Join(temporary, "project")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{
		"/":                                false,
		"/home":                            false, // above the home folder
		"/home/ann":                        false,
		"/home/ann/shop":                   true,
		"/home/bob":                        true, // somebody else's home is as it is
		"/srv/shop":                        true,
		"/usr/local/share/shop":            false,
		"/etc":                             false,
		"/usrlocal":                        true,
		temporary:                          false,
		filepath.Join(temporary, "client"): false,
		project:                            true,
	} {
		if found, none := defaultWorkspace(folder, "/home/ann", temporary); (len(found) == 1) != want || (none == "") != want {
			t.Errorf("%s: %q, %q; a workspace: %t", folder, found, none, want)
		}
	}
	if found, _ := defaultWorkspace("/srv/shop", "", temporary); len(found) != 1 {
		t.Error("without a home folder nothing is a workspace")
	}
}

// TestRoots compares the roots with README's table, in its order.
func TestRoots(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no roots of the system on Windows")
	}
	var logged strings.Builder
	r := &Roots{Config: config.Default(), home: "/home/ann", Data: "/home/ann/.local/share/skills-mcp", workspaces: &Workspaces{Folders: []string{"/shop"}}, ongrid: ongridFolders("/opt/one:/opt/two/, three,", slog.New(slog.NewTextHandler(&logged, nil)))}
	got := map[skills.Source][]string{}
	ongrid := 0
	for _, root := range r.List() {
		got[root.Source] = append(got[root.Source], root.String())
		if root.Ongrid {
			ongrid++
		}
	}
	want := map[skills.Source][]string{
		skills.SourceSession: {
			"/shop/.colony/skills", "/shop/.colony/plugins", "/shop/.claude/skills", "/shop/.claude/plugins", "/shop/.claude/commands", "/shop/.claude/agents",
			"/shop/.agents/skills", "/shop/.agents/plugins", "/shop/.github/skills", "/shop/.gemini/skills", "/shop/skills",
		},
		skills.SourceUser: {
			"/home/ann/.colony/skills", "/home/ann/.colony/plugins", "/home/ann/.claude/skills", "/home/ann/.claude/plugins", "/home/ann/.claude/commands", "/home/ann/.claude/agents",
			"/home/ann/.agents/skills", "/home/ann/.agents/plugins", "/home/ann/.openclaw/skills", "/home/ann/.openclaw/plugins",
			"/home/ann/.copilot/skills", "/home/ann/.gemini/skills", "/home/ann/.codex/skills", "/home/ann/.conduit/skills", "/home/ann/.conduit/plugins",
			"/home/ann/.local/share/skills-mcp/skills", "/home/ann/.local/share/skills-mcp/plugins",
		},
		skills.SourceSystem: {
			"/etc/colony/skills", "/etc/colony/plugins", "/etc/skills-mcp/skills", "/etc/skills-mcp/plugins",
			"/etc/ongrid/skills", "/opt/one", "/opt/two",
		},
		skills.SourceExtra: {"bundled:colony-samples"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(logged.String(), "folder=three") {
		t.Errorf("the log is %s", logged.String())
	}
	r.Roots = config.Roots{Session: true, User: true}
	for _, root := range r.List() {
		for _, client := range []string{".github", ".copilot", ".gemini", ".codex"} {
			if strings.Contains(root.Dir, client) {
				t.Errorf("%s is switched off, and a root", root)
			}
		}
		if installed := strings.Contains(root.Dir, "/share/"); installed != root.Installed {
			t.Errorf("%s: installed is %t", root, root.Installed)
		}
	}
	if ongrid != 3 {
		t.Errorf("%d roots are ongrid's", ongrid)
	}
}
