package web

import (
	"io/fs"
	"path"
	"strings"
	"testing"
)

// Each screen parses: what it prints is text or a quoted attribute value.
func TestScreensParse(t *testing.T) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	s := newScreens(newAssets())
	for _, name := range names {
		if path.Base(name) == "layout.html" || strings.HasPrefix(path.Base(name), "parts") {
			continue // they are parts of each screen
		}
		if _, err := s.of(path.Base(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
