package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write makes a module of one package from its files.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Two files that use each other have two back arrows; a use in one direction has
// none.
func TestLoad(t *testing.T) {
	dir := write(t, map[string]string{
		"p/a.go": "package p\n\n// A is what b uses.\ntype A struct{ Field int }\n\n// M does.\nfunc (a *A) M() { b() }\n\nfunc (A) n() {}\n",
		"p/b.go": "package p\n\nfunc b() {\n\t_ = A{Field: c}\n}\n",
		"p/c.go": "package p\n\nconst c = 1\n",
	})
	got, err := Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []*Package{{
		Path: "p", Files: 3, Lines: 17, Exported: 3, Methods: Count{"A", 2},
		Function: Count{"b", 3}, File: Count{"a.go", 9}, Comments: 2, What: 1,
		Arrows: 3, Back: []Arrow{{"a.go", "b.go", "b"}, {"b.go", "a.go", "A"}},
		Circle: []string{"a.go", "b.go"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var stdout, stderr strings.Builder
	if code := execute(t.Context(), []string{"-v", dir}, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "p: a.go uses b of b.go") {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
}

// A checkout that does not compile is an error, not a row of zeros.
func TestLoadBroken(t *testing.T) {
	dir := write(t, map[string]string{"p/a.go": "package p\n\nvar x = y\n"})
	var stdout, stderr strings.Builder
	if code := execute(t.Context(), []string{dir}, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "undefined: y") {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
}

// A circle is found whatever the number of its files, and promoted methods count.
func TestLoadCircle(t *testing.T) {
	dir := write(t, map[string]string{
		"p/a.go": "package p\n\ntype a struct{ b }\n\nfunc (a) one() { b{}.two() }\n",
		"p/b.go": "package p\n\ntype b struct{ c }\n\nfunc (b) two() { c{}.three() }\n",
		"p/c.go": "package p\n\nimport \"sync\"\n\ntype c struct{ sync.Mutex }\n\nfunc (c) three() { _ = end }\n\nfunc four() { a{}.one() }\n",
		"p/d.go": "package p\n\nconst end = 1\n",
	})
	got, err := Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.go", "b.go", "c.go"}, got[0].Circle); diff != "" {
		t.Error(diff)
	}
	if want := (Count{"a", 3}); got[0].Methods != want {
		t.Errorf("the largest method set is %v, want %v", got[0].Methods, want)
	}
}

// A package that is heavier than its row, or has none, is told.
func TestWeights(t *testing.T) {
	var b strings.Builder
	err := reportWeights(&b, []*Package{{Path: "server/new", Lines: 1001}, {Path: "server/light", Lines: 1000}, {Path: "server/run", Lines: 2300}, {Path: "integration/bench", Lines: 9000}})
	if want := "server/new has 1001 lines, and may weigh 1000\n"; err != nil || b.String() != want {
		t.Errorf("%q, %v, want %q", b.String(), err, want)
	}
}

// TestLimits keeps the code's own structure. The back arrows are those of two evaluators,
// in skills/infer/node and skills/infer/python, whose expressions are calls and whose calls
// have expressions. The suites of integration/bench may have more methods.
func TestLimits(t *testing.T) {
	const maxMethods, maxBack, maxCircle = 30, 4, 4
	packages, err := Load(t.Context(), filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	back := 0
	for _, p := range packages {
		if p.Methods.N > maxMethods && !strings.HasPrefix(p.Path, "integration/") {
			t.Errorf("%s: %s has %d methods, more than %d; give its parts types of their own", p.Path, p.Methods.Name, p.Methods.N, maxMethods)
		}
		if len(p.Circle) > maxCircle {
			t.Errorf("%s: %d files use each other in a circle, more than %d: %s", p.Path, len(p.Circle), maxCircle, strings.Join(p.Circle, ", "))
		}
		back += len(p.Back)
	}
	if back > maxBack {
		t.Errorf("%d arrows between files point back, more than %d; go run ./integration/house -v lists them", back, maxBack)
	}
}
