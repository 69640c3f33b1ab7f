package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A call right after a write sees it, before the burst of changes has settled.
func TestCallsRightAfterWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, body string) {
		t.Helper()
		lab.WriteFile(t, filepath.Join(dir, name, "SKILL.md"), "---\nname: "+name+"\ndescription: d\n---\n"+body+"\n")
	}
	write("note", "Version 0.")
	c := lab.Connect(t, "native", "--skills", dir)
	load := func(name string) string {
		t.Helper()
		text, _ := c.Call("load_skill", map[string]any{"name": name})
		return text
	}
	for i := range 10 {
		want := fmt.Sprintf("Version %d.", i)
		write("note", want)
		if got := load("note"); !strings.Contains(got, want) {
			t.Errorf("after write %d: %s", i, got)
		}
		if got, _ := c.Call("note", nil); !strings.Contains(got, want) {
			t.Errorf("its tool after write %d: %s", i, got)
		}
		name := fmt.Sprintf("new%d", i)
		write(name, want)
		if got := load(name); !strings.Contains(got, want) {
			t.Errorf("a new skill: %s", got)
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if got := load(name); strings.Contains(got, want) {
			t.Errorf("a skill that is gone: %s", got)
		}
	}
	lab.WriteFile(t, filepath.Join(dir, "note", "SKILL.md"), "---\nname: note\n")
	if got := load("note"); !strings.Contains(got, "not closed") {
		t.Errorf("a skill that broke: %s", got)
	}
	write("note", "Right again.")
	if got := load("note"); !strings.Contains(got, "Right again.") {
		t.Errorf("a skill that was corrected: %s", got)
	}
}
