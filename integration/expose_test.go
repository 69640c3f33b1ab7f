package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Of many skills, a client sees the ones that the workspace has files for, and
// reaches the others by name. It hears of changes of that.
func TestExposure(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	write := func(name, front string) {
		writeFile(t, filepath.Join(dir, name, "SKILL.md"), "---\nname: "+name+"\ndescription: Is one of many.\n"+front+"---\nHello from "+name+".\n")
	}
	for i := range 60 {
		write(fmt.Sprintf("skill-%02d", i), "")
	}
	write("for-go", "paths: ['**/*.go']\n")
	write("for-rust", "paths: ['**/*.rs']\n")
	writeFile(t, filepath.Join(workspace, "src", "main.go"), "package main\n")
	c := connect(t, "native", "--skills", dir, "--workspace", workspace)
	until := func(what string, there func() bool) {
		t.Helper()
		for !there() {
			select {
			case <-c.changes:
			case <-t.Context().Done():
				t.Fatalf("%s, and no notice came", what)
			}
		}
	}
	// The workspace is looked at beside the start.
	until("the workspace has files for a skill", func() bool {
		_, ok := c.tools()["for-go"]
		return ok
	})
	tools := c.tools()
	for name, want := range map[string]bool{"for-go": true, "for-rust": false, "skill-00": false, "run_skill": true} {
		if _, ok := tools[name]; ok != want {
			t.Errorf("tool %s: %t", name, ok)
		}
	}
	if got := tools["search_skills"].Description; !strings.Contains(got, "Skills without a tool of their own (64):") {
		t.Errorf("search_skills does not tell of the others: %s", got)
	}
	if text, result := c.call("load_skill", map[string]any{"name": "skill-00"}); result.IsError || !strings.Contains(text, "Hello from skill-00.") {
		t.Errorf("load_skill: %s", text)
	}

	// A new skill is told, though it has no tool.
	write("new", "")
	until("a skill is new", func() bool { return strings.Contains(c.tools()["search_skills"].Description, "(65):") })
}
