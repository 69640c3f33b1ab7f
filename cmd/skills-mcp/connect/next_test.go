package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Taking out what was added leaves the very file that was there.
func TestRemoveRestores(t *testing.T) {
	for _, before := range []string{
		"", "\n", "{}", "{\n}\n", "{}\r\n", "{ \"mcpServers\" : { } , }", "{\"mcpServers\": {}}\n", "\ufeff{\r\n\t\"a\": 1 // one\r\n}",
		"// mine\n{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n", "{\"mcpServers\":{\"one\":{\"command\":\"one\"}}}",
	} {
		restores(t, mustFind(t, "cursor"), before)
	}
	for _, before := range []string{"", "a = 1", "a = 1\n\n\n", "# mine\r\n", "[mcp_servers]\n", "[mcp_servers.one]\ncommand = \"one\""} {
		restores(t, mustFind(t, "codex"), before)
	}
}

func restores(t *testing.T, client Client, before string) {
	t.Helper()
	for _, entry := range []Entry{ours, running, {URL: address}} {
		target := Target{File: filepath.Join(t.TempDir(), "config")}
		write(t, target.File, before)
		if result, err := client.Add(target, "skills", entry, nil); err != nil || !result.Changed {
			t.Fatalf("%q: %+v %v", before, result, err)
		}
		// Other arguments than those that were written are no hindrance.
		entry.Args, entry.TokenVariable = []string{"serve"}, ""
		if result, err := client.Remove(target, "skills", entry, nil); err != nil || !result.Changed {
			t.Fatalf("%q: %+v %v", before, result, err)
		}
		if got := contents(t, target.File); got != before {
			t.Errorf("the file was %q, and is %q", before, got)
		}
	}
}

// What somebody did to the file since stays, comments too.
func TestRemoveKeepsWhatCameSince(t *testing.T) {
	for name, c := range map[string]struct{ before, old, new string }{
		"cursor": {"{\n  \"a\": 1\n}\n", "\"a\": 1", "\"a\": 1 /* mine */"},
		"codex":  {"a = 1", "a = 1", "a = 1 # mine"},
	} {
		target := Target{File: filepath.Join(t.TempDir(), "config")}
		write(t, target.File, c.before)
		client := mustFind(t, name)
		if _, err := client.Add(target, "skills", ours, nil); err != nil {
			t.Fatal(err)
		}
		write(t, target.File, strings.Replace(contents(t, target.File), c.old, c.new, 1))
		if _, err := client.Remove(target, "skills", ours, nil); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, target.File); !strings.Contains(got, c.new) || strings.Contains(got, ours.Command) {
			t.Errorf("%s: the file is %q", name, got)
		}
	}
}

// The server whose place was taken does not come back.
func TestRemoveAfterForce(t *testing.T) {
	target := Target{File: filepath.Join(t.TempDir(), "mcp.json")}
	write(t, target.File, `{"mcpServers":{"skills":{"command":"x"}}}`)
	client := mustFind(t, "cursor")
	if _, err := client.Add(target, "skills", ours, &Options{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Remove(target, "skills", ours, nil); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, target.File); got != `{"mcpServers":{}}` {
		t.Errorf("the file is %s", got)
	}
}

// Of those who write a file at once each finds what the others wrote.
func TestParallel(t *testing.T) {
	target := Target{File: filepath.Join(t.TempDir(), "mcp.json")}
	write(t, target.File, "{}\n")
	client := mustFind(t, "cursor")
	const writers = 16
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			if result, err := client.Add(target, fmt.Sprintf("skills-%d", i), ours, nil); err != nil || !result.Changed {
				t.Errorf("%d: %+v %v", i, result, err)
			}
		})
	}
	all.Wait()
	found, err := entries(client.format, []byte(contents(t, target.File)))
	if err != nil || len(found) != writers {
		t.Errorf("of %d entries there are %d, %v", writers, len(found), err)
	}
	names, err := os.ReadDir(filepath.Dir(target.File))
	if err != nil || len(names) != 1+writers {
		t.Errorf("in the folder are %v, %v", names, err)
	}
}

// One that was stopped leaves a file that the next one names, and does not take
// for its own.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	first, err := hold(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold(path, 0); err == nil || !strings.Contains(err.Error(), first.path+" is there") {
		t.Error(err)
	}
	first.close()
	second, err := hold(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.become(path); err != nil {
		t.Fatal(err)
	}
	third, err := hold(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	second.close()
	if _, err := os.Stat(third.path); err != nil {
		t.Error("what is somebody else's was removed")
	}
}
