package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Settings with which programs answer forms are named by their file, of the person and of
// a project; others, empty and broken ones are not.
func TestAnswering(t *testing.T) {
	hooked := func(event string) string {
		return fmt.Sprintf(`{"hooks": {"PreToolUse": [], /* a comment */ %q: [{"hooks": [{"type": "command", "command": "yes"}]}]}}`, event)
	}
	full := "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n"
	for name, test := range map[string]struct {
		files map[string]string // below home and project
		want  []string          // the files that are named
		codex int               // those of Codex
	}{
		"none":                      {},
		"elicitation":               {map[string]string{"home/.claude/settings.json": hooked("Elicitation")}, []string{"home/.claude/settings.json"}, 0},
		"the result, in a project":  {map[string]string{"project/.claude/settings.json": hooked("ElicitationResult")}, []string{"project/.claude/settings.json"}, 0},
		"in the project, but local": {map[string]string{"project/.claude/settings.local.json": hooked("Elicitation")}, []string{"project/.claude/settings.local.json"}, 0},
		"another hook":              {map[string]string{"home/.claude/settings.json": hooked("Notification")}, nil, 0},
		"an empty list":             {map[string]string{"home/.claude/settings.json": `{"hooks": {"Elicitation": []}}`}, nil, 0},
		"broken":                    {map[string]string{"home/.claude/settings.json": `{"hooks": {"Elicitation"`, "home/.codex/config.toml": "["}, nil, 0},
		"of another shape":          {map[string]string{"home/.claude/settings.json": `{"hooks": [1]}`}, nil, 0},
		"codex":                     {map[string]string{"home/.codex/config.toml": full}, []string{"home/.codex/config.toml"}, 1},
		"codex, in a project":       {map[string]string{"project/.codex/config.toml": full + "[mcp_servers.x]\ncommand = \"x\"\n"}, []string{"project/.codex/config.toml"}, 1},
		"codex with its sandbox":    {map[string]string{"home/.codex/config.toml": "approval_policy = \"never\"\nsandbox_mode = \"workspace-write\"\n"}, nil, 0},
		"codex that asks":           {map[string]string{"home/.codex/config.toml": "approval_policy = \"on-request\"\nsandbox_mode = \"danger-full-access\"\n"}, nil, 0},
		"both": {
			map[string]string{"home/.claude/settings.json": hooked("Elicitation"), "home/.codex/config.toml": full},
			[]string{"home/.claude/settings.json", "home/.codex/config.toml"}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range test.files {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			places := Places{OS: "linux", Home: filepath.Join(dir, "home")}
			var got []string
			for _, line := range Answering("", places, filepath.Join(dir, "project")) {
				for _, file := range test.want {
					if path := filepath.Join(dir, filepath.FromSlash(file)); len(line) > len(path) && line[:len(path)+5] == path+" has " {
						got = append(got, file)
					}
				}
			}
			if all := Answering("", places, filepath.Join(dir, "project")); !slices.Equal(got, test.want) || len(all) != len(got) {
				t.Errorf("%q, want %q", all, test.want)
			}
			if of := Answering("codex", places, filepath.Join(dir, "project")); len(of) != test.codex {
				t.Errorf("of Codex: %q", of)
			}
		})
	}
}
