package connect

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

var ours = Entry{Command: "/usr/local/bin/skills-mcp", Args: []string{"serve", "--workspace", "/home/ann/shop"}}

// Each file of testdata/edits has a client's name in its first line, and the
// client's file before, with the server added, and with it taken out again. In
// "old", where there is one, the entry is another server's, and replaced.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("testdata/edits/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { checkEdits(t, file) })
	}
}

func checkEdits(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(string(archive.Comment), ":")
	client := mustFind(t, name)
	before := archive.Files[0].Data
	added := mustSet(t, client.format, before, client.fields(ours))
	removed, err := client.format.remove(added, "skills")
	if err != nil {
		t.Fatal(err)
	}
	gone := func(entry any) bool { return entry == nil }
	if err := verify(client.format, added, removed, "skills", gone); err != nil {
		t.Error(err)
	}
	if *update {
		archive.Files = []txtar.File{{Name: "before", Data: before}, {Name: "added", Data: added}, {Name: "removed", Data: removed}}
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(archive.Files[1].Data), string(added)); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(string(archive.Files[2].Data), string(removed)); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
}

// mustSet adds our entry, twice to the same effect.
func mustSet(t *testing.T, f format, before []byte, written fields) []byte {
	t.Helper()
	added, err := f.set(before, "skills", written)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(f, before, added, "skills", written.is); err != nil {
		t.Fatalf("%v:\n%s", err, added)
	}
	if again, err := f.set(added, "skills", written); err != nil || !bytes.Equal(again, added) {
		t.Errorf("the second time: %v:\n%s", err, again)
	}
	return added
}

func mustFind(t *testing.T, name string) Client {
	t.Helper()
	client, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Line ends, indentation and what is missing at the end are the file's own.
func TestLayout(t *testing.T) {
	jsonc, tomls := jsonFormat{section: "mcpServers"}, tomlFormat{section: "mcp_servers"}
	e := fields{{"command", "/s"}, {"args", []string{"serve"}}}
	for _, c := range []struct {
		name, before, added, removed string
		format                       format
	}{
		{
			"nothing", "", "{\n  \"mcpServers\": {\n    \"skills\": {\n      \"command\": \"/s\",\n      \"args\": [\n        \"serve\"\n      ]\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {}\n}\n", jsonc,
		},
		{
			"CRLF and tabs", "{\r\n\t\"a\": 1\r\n}",
			"{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"skills\": {\r\n\t\t\t\"command\": \"/s\",\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"serve\"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}",
			"{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {}\r\n}", jsonc,
		},
		{"nothing", "", "[mcp_servers.skills]\ncommand = \"/s\"\nargs = [\"serve\"]\n", "", tomls},
		{"CRLF", "a = 1\r\n", "a = 1\r\n\r\n[mcp_servers.skills]\r\ncommand = \"/s\"\r\nargs = [\"serve\"]\r\n", "a = 1\r\n", tomls},
		{"no line end", "a = 1", "a = 1\n\n[mcp_servers.skills]\ncommand = \"/s\"\nargs = [\"serve\"]\n", "a = 1\n", tomls},
	} {
		t.Run(c.format.within()+" "+c.name, func(t *testing.T) {
			added, err := c.format.set([]byte(c.before), "skills", e)
			if err != nil || string(added) != c.added {
				t.Fatalf("added %q, %v\nwant  %q", added, err, c.added)
			}
			removed, err := c.format.remove(added, "skills")
			if err != nil || string(removed) != c.removed {
				t.Errorf("removed %q, %v\nwant    %q", removed, err, c.removed)
			}
		})
	}
}

// What cannot be edited is refused, with the line where there is one.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, client, text, want string }{
		{"cut off", "cursor", "{\n  \"mcpServers\": {\n", "line 3, column 1"},
		{"two values", "cursor", "{}\n{}", "line 2, column 1"},
		{"array", "cursor", "\n[]", "line 2: it is not an object"},
		{"section is a list", "vscode", `{"servers": []}`, `"servers" is not a map of servers`},
		{"section is null", "zed", `{"context_servers": null}`, `"context_servers" is not a map of servers`},
		{"section twice", "cursor", "{\"mcpServers\": {},\n\"mcpServers\": {}}", `line 2: "mcpServers" is there a second time`},
		{"deep", "cursor", strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001), "nested deeper than 1000"},
		{"TOML", "codex", "a = 1\nb =\n", "line 2"},
		{"deep TOML", "codex", "a = " + strings.Repeat("[", 101) + strings.Repeat("]", 101), "nested deeper than 100"},
		{"long key", "codex", strings.Repeat("a.", 101) + "a = 1", "nested deeper than 100"},
		{"large TOML", "codex", strings.Repeat("#\n", 1<<19) + "#", "larger than 1 MiB"},
		{"inline table", "codex", "'mcp_servers' = {}\n", "mcp_servers is not written as tables"},
		{"inline entry", "codex", "[mcp_servers]\nskills = {command = \"other\"}\n", "no table [mcp_servers.skills] of its own"},
		{"header in a text", "codex", "notes = \"\"\"\n[mcp_servers.skills]\n\"\"\"\n", "would change more than the entry"},
		{"list of tables", "codex", "[[mcp_servers]]\na = 1\n", "is not a map of servers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config")
			writeFile(t, file, c.text)
			_, err := mustFind(t, c.client).Add(Target{File: file}, "skills", ours, &Options{Force: true})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error %v, want %q and the file", err, c.want)
			}
			if got := contents(t, file); got != c.text {
				t.Errorf("the file is now %q", got)
			}
			only(t, file)
		})
	}
}

func TestSnippetRefusesVariables(t *testing.T) {
	for name, refused := range map[string]bool{"gemini": true, "claude-code": true, "codex": false, "claude-desktop": false} {
		_, err := mustFind(t, name).Snippet("skills", Entry{Command: "/s", Args: []string{"serve", "--workspace", "/home/$HOME"}})
		if (err != nil) != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := mustFind(t, "vscode").Snippet("skills", Entry{Command: "/s", Args: []string{"serve", "--workspace", "${workspaceFolder}"}}); err != nil {
		t.Error(err)
	}
}
