package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where each client's file is, on each system.
func TestUserFiles(t *testing.T) {
	systems := map[string]Places{
		"linux":   {OS: "linux", Home: "/home/ann", Config: "/home/ann/.config"},
		"darwin":  {OS: "darwin", Home: "/Users/ann", Config: "/Users/ann/Library/Application Support"},
		"windows": {OS: "windows", Home: "C:/Users/ann", Config: "C:/Users/ann/AppData/Roaming"},
	}
	for _, c := range []struct{ client, linux, darwin, windows string }{
		{"claude-desktop", "~c/Claude/claude_desktop_config.json", "~c/Claude/claude_desktop_config.json", "~c/Claude/claude_desktop_config.json"},
		{"claude-code", "~/.claude.json", "~/.claude.json", "~/.claude.json"},
		{"vscode", "~c/Code/User/mcp.json", "~c/Code/User/mcp.json", "~c/Code/User/mcp.json"},
		{"cursor", "~/.cursor/mcp.json", "~/.cursor/mcp.json", "~/.cursor/mcp.json"},
		{"codex", "~/.codex/config.toml", "~/.codex/config.toml", "~/.codex/config.toml"},
		{"gemini", "~/.gemini/settings.json", "~/.gemini/settings.json", "~/.gemini/settings.json"},
		{"windsurf", "~/.codeium/windsurf/mcp_config.json", "~/.codeium/windsurf/mcp_config.json", "~/.codeium/windsurf/mcp_config.json"},
		{"devin", "~c/devin/mcp_config.json", "~/.config/devin/mcp_config.json", "~c/devin/mcp_config.json"},
		{"zed", "~c/zed/settings.json", "~/.config/zed/settings.json", "~c/Zed/settings.json"},
	} {
		for system, want := range map[string]string{"linux": c.linux, "darwin": c.darwin, "windows": c.windows} {
			places := systems[system]
			want = strings.Replace(strings.Replace(want, "~c", places.Config, 1), "~", places.Home, 1)
			if got := filepath.ToSlash(mustFind(t, c.client).User(places).File); got != want {
				t.Errorf("%s on %s: %s, want %s", c.client, system, got, want)
			}
		}
	}
}

func TestMovedFiles(t *testing.T) {
	places := Places{OS: "linux", Home: "/home/ann", Config: "/home/ann/.config", ClaudeConfig: "/c", CodexHome: "/x"}
	for name, want := range map[string]Target{
		"claude-code": {File: "/c/.claude.json", Folder: "/c"},
		"codex":       {File: "/x/config.toml", Folder: "/x"},
	} {
		got := mustFind(t, name).User(places)
		if filepath.ToSlash(got.File) != want.File || filepath.ToSlash(got.Folder) != want.Folder {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestProjectFiles(t *testing.T) {
	for name, want := range map[string]string{
		"claude-code": "p/.mcp.json", "vscode": "p/.vscode/mcp.json", "cursor": "p/.cursor/mcp.json",
		"codex": "p/.codex/config.toml", "gemini": "p/.gemini/settings.json", "devin": "p/.devin/mcp_config.json", "zed": "p/.zed/settings.json",
		"claude-desktop": "", "windsurf": "",
	} {
		target, err := mustFind(t, name).Project("p")
		if filepath.ToSlash(target.File) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %+v %v", name, target, err)
		}
	}
}

func TestFindNamesWhatThereIs(t *testing.T) {
	if _, err := Find("emacs"); err == nil || !strings.Contains(err.Error(), "claude-desktop, claude-code, vscode") {
		t.Error(err)
	}
}

// On Windows Claude Desktop is in a package, which has a copy of the folder that
// other programs see.
func TestClaudeDesktopInAPackage(t *testing.T) {
	local := t.TempDir()
	places := Places{OS: "windows", Config: filepath.Join(local, "Roaming"), Local: local}
	client := mustFind(t, "claude-desktop")
	if got := client.User(places).Folder; got != filepath.Join(places.Config, "Claude") {
		t.Errorf("without a package: %s", got)
	}
	inside := filepath.Join(local, "Packages", "Claude_abc", "LocalCache", "Roaming")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := client.User(places).Folder; got != filepath.Join(inside, "Claude") {
		t.Errorf("with a package: %s", got)
	}
}
