package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An edit changes the manifest of one skill.
func TestMake(t *testing.T) {
	home := t.TempDir()
	if err := Make(home, 2); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "skills", Name(1))
	read := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := read()
	if err := Write(dir, 1, 5); err != nil {
		t.Fatal(err)
	}
	if after := read(); after == before || !strings.Contains(after, "time number 5.") {
		t.Errorf("after the edit:\n%.300s", after)
	}
}
