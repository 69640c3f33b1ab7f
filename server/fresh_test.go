package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A call that names a skill sees its files as they are, though nobody has told the
// server that they changed.
func TestCallsSeeFilesAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\nname: "+name+"\ndescription: d\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scanner := scan.NewScanner([]scan.Root{{Source: skills.SourceUser, Dir: dir}}, nil)
	reloader := live.New(scanner, nil)
	b := newBenchWith(t, ends(0, "ran", ""), Options{Reloader: reloader})
	for _, name := range []string{"tool", "load", "get", "prompt", "run"} {
		write(name, "---\nText 1.\n")
	}
	reloader.Start(t.Context(), b.Server)
	t.Cleanup(reloader.Close)
	reloader.AwaitFirst(t.Context())
	calls := map[string]func(name string) string{
		"tool": func(name string) string { return b.ask("tools/call", fmt.Sprintf(`{"name": %q}`, name)) },
		"load": func(name string) string {
			return b.ask("tools/call", fmt.Sprintf(`{"name": "load_skill", "arguments": {"name": %q}}`, name))
		},
		"get": func(name string) string {
			return b.ask("tools/call", fmt.Sprintf(`{"name": "get_skill", "arguments": {"name": %q}}`, name))
		},
		"prompt": func(name string) string { return b.ask("prompts/get", fmt.Sprintf(`{"name": %q}`, name)) },
		"run": func(name string) string {
			return b.ask("tools/call", fmt.Sprintf(`{"name": "run_skill", "arguments": {"name": %q}}`, name))
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			seen := func(what, want string) {
				t.Helper()
				if got := call(name); !strings.Contains(got, want) {
					t.Errorf("%s: no %q in %s", what, want, got)
				}
			}
			before := b.Catalog()
			call(name)
			if b.Catalog() != before {
				t.Error("an unchanged skill was read again")
			}
			switch name {
			case "run":
				write(name, "script: run.sh\n---\n")
				if err := os.WriteFile(filepath.Join(dir, name, "run.sh"), []byte("echo\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				seen("after a change", "ran")
			case "get":
				write(name, "when_to_use: Text 2.\n---\n")
				seen("after a change", "Text 2.")
			default:
				write(name, "---\nText 2.\n")
				seen("after a change", "Text 2.")
			}
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if got := call(name); strings.Contains(got, "Text 2.") || !strings.Contains(got, "no ") {
				t.Errorf("after its removal: %s", got)
			}
		})
	}
	write("new", "---\nText 1.\n")
	if got := calls["load"]("new"); !strings.Contains(got, "Text 1.") {
		t.Errorf("a new skill: %s", got)
	}
}
