package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The state of a file tells the entry from others of its name, and shows no argument of
// these.
func TestState(t *testing.T) {
	entry := Entry{Command: "/bin/skills-mcp", Args: []string{"serve"}}
	for name, test := range map[string]struct {
		file string // "" is none
		want State
	}{
		"no client":       {"", State{}},
		"no entry":        {`{"mcpServers": {"other": {"command": "x"}}}`, State{Installed: true}},
		"the entry":       {`{"mcpServers": {"skills": {"command": "/bin/skills-mcp", "args": ["serve"], "env": {"A": "b"}}}}`, State{Installed: true, Has: true, Same: true}},
		"other arguments": {`{"mcpServers": {"skills": {"command": "/usr/bin/skills-mcp", "args": ["serve", "--sandbox", "native"]}}}`, State{Installed: true, Same: true, Starts: "/usr/bin/skills-mcp"}},
		"another":         {`{"mcpServers": {"skills": {"command": "npx", "args": ["--key", "s3cret"], "env": {"TOKEN": "s3cret"}}}}`, State{Installed: true, Starts: "npx"}},
		"an address":      {`{"mcpServers": {"skills": {"url": "https://ann:s3cret@host.example/mcp?key=s3cret"}}}`, State{Installed: true, Starts: "https://host.example/mcp"}},
		"no server":       {`{"mcpServers": {"skills": 5}}`, State{Installed: true, Starts: "something else"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			client, err := Find("cursor")
			if err != nil {
				t.Fatal(err)
			}
			target := client.User(Places{OS: "linux", Home: home, Config: filepath.Join(home, ".config")})
			if test.file != "" {
				if err := os.MkdirAll(target.Folder, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(target.File, []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := client.State(target, "skills", entry)
			if err != nil || got != test.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// A file that cannot be read is an error that names it, of a client that is there.
func TestStateOfBrokenFile(t *testing.T) {
	client, err := Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	target := Target{File: filepath.Join(t.TempDir(), "mcp.json")}
	if err := os.WriteFile(target.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if state, err := client.State(target, "skills", Entry{Command: "x"}); err == nil || !strings.Contains(err.Error(), target.File) || !state.Installed {
		t.Errorf("%+v, %v", state, err)
	}
}
