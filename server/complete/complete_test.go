package complete

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprintf("v%03d", i)
	}
	for _, test := range []struct {
		all  []string
		text string
		want List
	}{
		{[]string{"slow", "fast"}, "", List{[]string{"fast", "slow"}, 2, false}},
		{[]string{"undo", "Do", "redo", "dot"}, "do", List{[]string{"Do", "dot", "redo", "undo"}, 4, false}},
		{[]string{"a", "a", "b"}, "a", List{[]string{"a"}, 1, false}},
		{[]string{"a"}, "x", List{[]string{}, 0, false}},
		{many, "v", List{many[:maxValues], 250, true}},
		{many[:maxValues], "v", List{many[:maxValues], maxValues, false}},
	} {
		if diff := cmp.Diff(test.want, Of(test.all, test.text)); diff != "" {
			t.Errorf("%q: %s", test.text, diff)
		}
	}
}

// workspace is a folder with links out of it, and a file beside it.
func workspace(t testing.TB) string {
	t.Helper()
	outside := t.TempDir()
	dir := filepath.Join(outside, "workspace")
	for _, name := range []string{"workspace/src/main.go", "workspace/src/make.go", "workspace/.git/config", "workspace/read me.md", "secret/key"} {
		name = filepath.Join(outside, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": "../secret", "absolute": filepath.Join(outside, "secret"), "in": "src", "gone": "nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPaths(t *testing.T) {
	dir := workspace(t)
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", []string{"in/", "read me.md", "src/"}},
		{"s", []string{"src/"}},
		{"src", []string{"src/"}},
		{"src/", []string{"src/main.go", "src/make.go"}},
		{"./src/mak", []string{"./src/make.go"}},
		{"src/../src/mai", []string{"src/../src/main.go"}},
		{"in/mai", []string{"in/main.go"}},
		{".", []string{".git/"}},
		{".git/", []string{".git/config"}},
		{dir + "/src/mai", []string{dir + "/src/main.go"}},
		{"out/", nil},
		{"absolute/", nil},
		{"../", nil},
		{"../secret/", nil},
		{"src/../../secret/", nil},
		{path.Dir(dir) + "/", nil},
		{dir + "/../secret/", nil},
		{"/", nil},
		{"src/main.go/", nil},
		{"src\x00/", nil},
		{"nothing/", nil},
		{strings.Repeat("./", maxText), nil}, // it names the workspace
	} {
		got := Paths([]string{dir}, test.text)
		if diff := cmp.Diff(List{test.want, len(test.want), false}, got); diff != "" {
			t.Errorf("%q: %s", test.text, diff)
		}
	}
	if got := Paths(nil, ""); len(got.Values) > 0 {
		t.Errorf("without a workspace: %v", got)
	}
	if got := Paths([]string{t.TempDir(), dir}, dir+"/s"); len(got.Values) != 1 {
		t.Errorf("in the second workspace: %v", got)
	}
}

func TestPathsAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := Paths([]string{dir}, "f")
	if len(got.Values) != maxValues || got.Total != 300 || !got.More || got.Values[0] != "f000" || got.Values[maxValues-1] != "f099" {
		t.Errorf("%d values, %d in all, more %t", len(got.Values), got.Total, got.More)
	}
	for i := range maxEntries {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("g%d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := Paths([]string{dir}, "f"); got.Total != 0 || !got.More {
		t.Errorf("more than is read: %+v", got)
	}
}

// Whatever is written, what is found is in the workspace, and is what was begun.
func FuzzPaths(f *testing.F) {
	dir := workspace(f)
	for _, text := range []string{"", "src/m", "../", "out/", "absolute/k", "..", "/", ".git/", "in/../../", "src//main", dir + "/s"} {
		f.Add(text)
	}
	f.Add("gone/../")
	f.Fuzz(func(t *testing.T, text string) {
		for _, found := range Paths([]string{dir}, text).Values {
			if !strings.HasPrefix(found, text) {
				t.Errorf("%q is no beginning of %q", text, found)
			}
			if !filepath.IsAbs(found) {
				found = filepath.Join(dir, found)
			}
			real, err := filepath.EvalSymlinks(filepath.Clean(found)) // as a call reads it
			if err != nil {
				t.Fatal(err)
			}
			if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) {
				t.Errorf("%q leads out, to %s", text, real)
			}
		}
	})
}
