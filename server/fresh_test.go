package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
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
	scanner := skills.NewScanner([]skills.Root{{Source: skills.SourceUser, Dir: dir}}, nil)
	scans := 0
	stale := func(name string, skill *skills.Skill, err error) func(context.Context) (*skills.Catalog, error) {
		var paths []string
		if err == nil {
			paths = scanner.Stale(skill)
		} else {
			paths = scanner.Unread(name, "")
		}
		if len(paths) == 0 {
			return nil
		}
		return func(ctx context.Context) (*skills.Catalog, error) {
			scans++
			return scanner.Rescan(ctx, paths)
		}
	}
	b := newBenchWith(t, ends(0, "ran", ""), Options{Stale: stale})
	for _, name := range []string{"tool", "load", "get", "prompt", "run"} {
		write(name, "---\nText 1.\n")
	}
	catalog, err := scanner.Scan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Publish(catalog)
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
			before := scans
			call(name)
			if scans != before {
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

// A reload under way may have read what a call names: the call sees it, though its
// file is as it was read.
func TestCallSeesReloadUnderWay(t *testing.T) {
	dir := t.TempDir()
	scanner := skills.NewScanner([]skills.Root{{Source: skills.SourceUser, Dir: dir}}, nil)
	read, publish := make(chan bool), make(chan bool)
	b := newBenchWith(t, ends(0, "", ""), Options{
		Stale: func(string, *skills.Skill, error) func(context.Context) (*skills.Catalog, error) {
			close(publish)
			return nil // as read
		},
	})
	if err := os.Mkdir(filepath.Join(dir, "late"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "late", "SKILL.md"), []byte("---\nname: late\ndescription: d\n---\nText.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, _, err := b.ReloadBy(t.Context(), func(ctx context.Context) (*skills.Catalog, error) {
			catalog, err := scanner.Scan(ctx)
			close(read)
			<-publish
			return catalog, err
		})
		done <- err
	}()
	<-read
	if got := b.ask("tools/call", `{"name": "load_skill", "arguments": {"name": "late"}}`); !strings.Contains(got, "Text.") {
		t.Errorf("got %s", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
