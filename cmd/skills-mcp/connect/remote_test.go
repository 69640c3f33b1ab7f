package connect

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const address = "http://127.0.0.1:8765/mcp"

var running = Entry{URL: address, TokenVariable: "SKILLS_MCP_TOKEN"}

// How each client writes a server that runs, and where its token comes from.
func TestRunningServers(t *testing.T) {
	for name, want := range map[string]string{
		"claude-code": `{"mcpServers":{"skills":{"type":"http","url":"` + address + `","headers":{"Authorization":"Bearer ${SKILLS_MCP_TOKEN}"}}}}`,
		"vscode":      `{"servers":{"skills":{"type":"http","url":"` + address + `","headers":{"Authorization":"Bearer ${env:SKILLS_MCP_TOKEN}"}}}}`,
		"cursor":      `{"mcpServers":{"skills":{"url":"` + address + `","headers":{"Authorization":"Bearer ${env:SKILLS_MCP_TOKEN}"}}}}`,
		"gemini":      `{"mcpServers":{"skills":{"httpUrl":"` + address + `","headers":{"Authorization":"Bearer ${SKILLS_MCP_TOKEN}"}}}}`,
		"windsurf":    `{"mcpServers":{"skills":{"serverUrl":"` + address + `","headers":{"Authorization":"Bearer ${env:SKILLS_MCP_TOKEN}"}}}}`,
		"devin":       `{"mcpServers":{"skills":{"url":"` + address + `","headers":{"Authorization":"Bearer ${env:SKILLS_MCP_TOKEN}"}}}}`,
		"codex":       "[mcp_servers.skills]\nurl = \"" + address + "\"\nbearer_token_env_var = \"SKILLS_MCP_TOKEN\"\n",
	} {
		client := mustFind(t, name)
		text, err := client.Snippet("skills", running)
		got := string(text)
		if name != "codex" {
			got = strings.NewReplacer("\n", "", "  ", "", ": ", ":").Replace(got)
		}
		if err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
		}
		// Without a token, there is no word of one.
		open, err := client.Snippet("skills", Entry{URL: address})
		if err != nil || !strings.Contains(string(open), address) || strings.Contains(strings.ToLower(string(open)), "bearer") {
			t.Errorf("%s: %v, %s", name, err, open)
		}
	}
}

func TestRunningServersRefused(t *testing.T) {
	for _, c := range []struct {
		client string
		entry  Entry
		want   string
	}{
		{"claude-desktop", Entry{URL: address}, "no addresses"},
		{"zed", running, "does not take a token from a variable"},
		{"cursor", Entry{URL: "127.0.0.1:8765"}, "is not the address of a server"},
		{"cursor", Entry{URL: "ftp://host/mcp"}, "is not the address of a server"},
		{"cursor", Entry{URL: "http:///mcp"}, "is not the address of a server"},
		{"cursor", Entry{URL: "https://ann:secret@host/mcp"}, `"https://ann:xxxxx@host/mcp" has a name`},
		{"cursor", Entry{URL: "https://host/mcp#a"}, "a fragment"},
		{"cursor", Entry{URL: "https://host/$mcp"}, "has a $"},
		{"cursor", Entry{URL: address, TokenVariable: "A B"}, "is not the name of a variable"},
	} {
		if _, err := mustFind(t, c.client).Snippet("skills", c.entry); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.client, c.entry, err, c.want)
		}
	}
	if _, err := mustFind(t, "zed").Snippet("skills", Entry{URL: address}); err != nil {
		t.Error(err)
	}
}

// A server at an address is added once, is another one than a program, and is
// taken out by its address.
func TestRunningServerInAFile(t *testing.T) {
	for _, name := range []string{"claude-code", "codex"} {
		client, target := mustFind(t, name), Target{File: filepath.Join(t.TempDir(), "config")}
		if result, err := client.Add(target, "skills", running, nil); err != nil || !result.Changed {
			t.Fatal(result, err)
		}
		if result, err := client.Add(target, "skills", running, nil); err != nil || result.Changed {
			t.Error("the second time", result, err)
		}
		if _, err := client.Add(target, "skills", ours, nil); err == nil {
			t.Error("a program took its place")
		}
		if _, err := client.Remove(target, "skills", ours, nil); err == nil {
			t.Error("it was taken out as a program")
		}
		if _, err := client.Remove(target, "skills", Entry{URL: "http://other/mcp"}, nil); err == nil {
			t.Error("it was taken out by another address")
		}
		if result, err := client.Remove(target, "skills", Entry{URL: address}, nil); err != nil || !result.Changed {
			t.Error(result, err)
		}
	}
}

// What was written for one kind is no other.
func TestIs(t *testing.T) {
	code, cursor := mustFind(t, "claude-code"), mustFind(t, "cursor")
	program := map[string]any{"command": ours.Command, "args": []any{"serve", "--workspace", "/home/ann/shop"}}
	for _, c := range []struct {
		name   string
		client Client
		entry  Entry
		found  map[string]any
		want   bool
	}{
		{"a program without a type", code, ours, program, true},
		{"an address without a type", code, Entry{URL: address}, map[string]any{"url": address}, false},
		{"an address with its type", code, Entry{URL: address}, map[string]any{"url": address, "type": "http"}, true},
		{"an address with another type", cursor, Entry{URL: address}, map[string]any{"url": address, "type": "sse"}, false},
		{"another header beside", cursor, Entry{URL: address}, map[string]any{"url": address, "headers": map[string]any{"X": "1"}}, true},
		{"another token", cursor, running, map[string]any{"url": address, "headers": map[string]any{"Authorization": "Bearer x"}}, false},
	} {
		if got := c.client.fields(c.entry).is(c.found); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// How each client writes a token itself. The file is its owner's alone then, another token
// takes the place of the first, and an error about the entry has none.
func TestTokenInAFile(t *testing.T) {
	for name, want := range map[string]string{
		"claude-code": `"Authorization": "Bearer one"`, "vscode": `"Authorization": "Bearer one"`, "cursor": `"Authorization": "Bearer one"`,
		"gemini": `"Authorization": "Bearer one"`, "windsurf": `"Authorization": "Bearer one"`, "devin": `"Authorization": "Bearer one"`,
		"zed": `"Authorization": "Bearer one"`, "codex": `http_headers = { Authorization = "Bearer one" }`,
	} {
		client, target := mustFind(t, name), Target{File: filepath.Join(t.TempDir(), "config")}
		if err := os.WriteFile(target.File, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		entry := Entry{URL: address, Token: "one"}
		if _, err := client.Add(target, "skills", entry, nil); err != nil {
			t.Fatal(name, err)
		}
		text, _ := os.ReadFile(target.File)
		info, err := os.Stat(target.File)
		if err != nil || !strings.Contains(string(text), want) || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v\n%s", name, info.Mode(), err, text)
		}
		entry.Token = "two"
		if result, err := client.Add(target, "skills", entry, nil); err != nil || !result.Changed {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		_, err = client.Add(target, "skills", Entry{URL: "http://127.0.0.1:1/mcp", Token: "three"}, nil)
		if err == nil || strings.Contains(err.Error(), "two") || !strings.Contains(err.Error(), "Bearer …") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := client.Remove(target, "skills", Entry{URL: address}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(target.File); strings.Contains(string(text), "Bearer") {
			t.Errorf("%s: left %s", name, text)
		}
	}
	if _, err := mustFind(t, "cursor").Snippet("skills", Entry{URL: address, Token: "a$b"}); err == nil {
		t.Error("a token that Cursor would expand")
	}
}
