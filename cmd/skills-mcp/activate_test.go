package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
)

// The workspaces are looked at after each scan, beside it.
func TestActivator(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir, workspace := t.TempDir(), t.TempDir()
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	skill := func(glob string) string { return "---\nname: demo\ndescription: d\npaths: " + glob + "\n---\n" }
	write(filepath.Join(workspace, "src", "a.go"), "")
	s := &settings{Config: config.Default(), workspaces: []string{workspace}, logger: slog.New(slog.DiscardHandler)}
	s.Roots, s.Skills = config.Roots{}, []string{dir}
	a, told := newActivator(s), make(chan string)
	a.start(t.Context(), func(active map[string]bool) bool {
		told <- fmt.Sprint(active)
		return true
	})
	for _, step := range []struct{ glob, want string }{
		{"src/*.go", "map[demo:true]"}, {"src/*.rs", "map[]"}, {"'**/*.go'", "map[demo:true]"}, {"[]", "map[]"},
	} {
		write(filepath.Join(dir, "demo", "SKILL.md"), skill(step.glob))
		if _, err := a.scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-told; got != step.want {
			t.Errorf("%s: %s, want %s", step.glob, got, step.want)
		}
	}
	// Nobody is told any more after the end.
	a.close()
	if _, err := a.scan(t.Context()); err != nil {
		t.Error(err)
	}
}
