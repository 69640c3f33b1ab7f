package clients

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// packedSkill is a ZIP file with a skill.
func packedSkill(t *testing.T, name, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for file, content := range map[string]string{name + "/SKILL.md": "---\nname: " + name + "\ndescription: Packed.\n---\n" + text, name + "/beside": "beside " + text} {
		f, err := w.Create(file)
		if err == nil {
			_, err = io.WriteString(f, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A server notices packages that come, change and go: in a folder, and where one
// alone is named.
func TestLiveReloadOfPackages(t *testing.T) {
	t.Parallel()
	dir, named := filepath.Join(t.TempDir(), "skills"), filepath.Join(t.TempDir(), "named.zip")
	lab.WriteFile(t, filepath.Join(dir, "first.zip"), packedSkill(t, "first", "One."))
	config := filepath.Join(t.TempDir(), "config.yaml")
	lab.WriteFile(t, config, "skills: ["+dir+", "+named+"]\n")
	c := lab.Connect(t, "native", "--config", config)
	expect := func(step, there, gone string) {
		t.Helper()
		select {
		case <-c.Changes:
		case <-t.Context().Done():
			t.Fatalf("%s: no notice came", step)
		}
		tools := c.Tools()
		if _, ok := tools[there]; !ok {
			t.Errorf("%s: there is no tool %s", step, there)
		}
		if _, ok := tools[gone]; ok {
			t.Errorf("%s: there still is a tool %s", step, gone)
		}
	}
	text, result := c.Call("first", nil)
	if result.IsError || !strings.Contains(text, "One.") {
		t.Errorf("first: %s", text)
	}
	lab.WriteFile(t, filepath.Join(dir, "new"), packedSkill(t, "second", "Two."))
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "first.zip")); err != nil {
		t.Fatal(err)
	}
	expect("another package in its place", "second", "first")
	lab.WriteFile(t, named, packedSkill(t, "alone", "Alone."))
	expect("a root that comes", "alone", "")
	lab.WriteFile(t, named, packedSkill(t, "other", "Other."))
	expect("a root that changes", "other", "alone")
	if text, result := c.Call("other", nil); result.IsError || !strings.Contains(text, "Other.") {
		t.Errorf("other: %s", text)
	}
	if err := os.Remove(named); err != nil {
		t.Fatal(err)
	}
	expect("a root that goes", "second", "other")
}
