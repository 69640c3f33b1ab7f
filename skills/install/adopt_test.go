package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// TestAdopt adopts a folder of another client, and then treats it as any other entry.
func TestAdopt(t *testing.T) {
	f := newFixture(t)
	dir := filepath.Join(f.target.Dir, ".claude", "skills", "pdf")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(body string) {
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(skill("pdf", "Reads PDF files.", body)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("v1")
	item := &Item{State: &lock.State{Name: "pdf", Kind: lock.Skill, Source: source.Source{Kind: source.Git, Location: "a"}}}
	if err := item.describe(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	state := item.State
	adopt := map[string]*lock.State{".claude/skills/pdf": state}

	elsewhere := map[string]*lock.State{"src/pdf": state}
	if err := f.Adopt(t.Context(), elsewhere); err == nil {
		t.Error("a folder that no client reads was adopted")
	}
	write("edited")
	if err := f.Adopt(t.Context(), adopt); !errors.As(err, new(*ConflictError)) {
		t.Errorf("files that have changed: %v", err)
	}
	write("v1")
	if err := f.Adopt(t.Context(), adopt); err != nil {
		t.Fatal(err)
	}
	if err := f.Adopt(t.Context(), adopt); !errors.As(err, new(*ConflictError)) {
		t.Errorf("adopted twice: %v", err)
	}
	if found, err := f.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
	f.fake.set("a", "2", map[string]string{"pdf/SKILL.md": skill("pdf", "Reads PDF files.", "v2")})
	f.update("pdf")
	if got := f.tree(".claude/skills/pdf"); !strings.Contains(got, "v2") {
		t.Errorf("updated in its place: %s", got)
	}
	removed, err := f.Uninstall(t.Context(), "pdf")
	if err != nil || len(removed.Kept) > 0 || f.tree(".claude/skills") != "" {
		t.Errorf("uninstall: %v, %v, left %q", removed, err, f.tree(".claude/skills"))
	}
}
