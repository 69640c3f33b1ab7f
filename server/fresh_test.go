package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// An editedSkill is a skill whose file run.sh is replaced, and its reloader. cut is the
// number of calls of Refresh that look in the middle of that.
type editedSkill struct {
	*live.Reloader
	t      *testing.T
	script string
	cut    int
}

func newEditedSkill(t *testing.T) *editedSkill {
	dir := filepath.Join(t.TempDir(), "demo")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: demo\ndescription: d\nscript: run.sh\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e := &editedSkill{t: t, script: filepath.Join(dir, "run.sh")}
	e.write()
	e.Reloader = live.New(scan.NewScanner([]scan.Root{{Source: skills.SourceUser, Dir: filepath.Dir(dir)}}, nil), nil)
	return e
}

func (e *editedSkill) start(b *bench) {
	e.Start(e.t.Context(), b.Server)
	e.t.Cleanup(e.Close)
	e.AwaitFirst(e.t.Context())
}

func (e *editedSkill) write() {
	e.t.Helper()
	if err := os.WriteFile(e.script, []byte("echo\n"), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

// remove removes the script, and publishes the skill without it.
func (e *editedSkill) remove() {
	e.t.Helper()
	if err := os.Remove(e.script); err != nil {
		e.t.Fatal(err)
	}
	if _, _, err := e.Reload(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editedSkill) Refresh(ctx context.Context, skill *skills.Skill) error {
	if e.cut--; e.cut >= 0 {
		e.remove()
		e.write()
		return nil
	}
	return e.Reloader.Refresh(ctx, skill)
}

// A call whose script was missing when the skill was read looks again, and reads the skill
// again only if the script is there by now.
func TestCallsSeeThatAScriptIsBack(t *testing.T) {
	for name, call := range map[string]string{
		"the tool":  `{"name": "demo"}`,
		"run_skill": `{"name": "run_skill", "arguments": {"name": "demo"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEditedSkill(t)
			b := newBenchWith(t, ends(0, "ran", ""), Options{Reloader: e})
			e.start(b)
			e.remove()
			missing := b.Catalog()
			for range 2 {
				if got := b.ask("tools/call", call); !strings.Contains(got, "script run.sh does not exist") {
					t.Errorf("without the script: %s", got)
				}
			}
			if b.Catalog() != missing {
				t.Error("the skill was read again for a script that is not there")
			}
			e.write()
			if got := b.ask("tools/call", call); !strings.Contains(got, "ran") {
				t.Errorf("with the script: %s", got)
			}
			e.cut = maxReads - 1
			if got := b.ask("tools/call", call); !strings.Contains(got, "ran") {
				t.Errorf("when it was just read without the script: %s", got)
			}
		})
	}
}

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
