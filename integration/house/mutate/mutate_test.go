package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A change that a test finds is killed, and one that none finds is printed.
func TestMutate(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"p/p.go":      "package p\n\nfunc Even(n int) bool { return n%2 == 0 }\n\nfunc Unseen(n int) bool { return n > 7 }\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestEven(t *testing.T) {\n\tfor i := range 4 {\n\t\tif Even(i) != (i == 0 || i == 2) {\n\t\t\tt.Error(i)\n\t\t}\n\t}\n}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var stdout, stderr strings.Builder
	if code := execute(t.Context(), []string{"-run", "", "./..."}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &stderr)
	}
	for _, want := range []string{
		`p.go:3 "==" → "!=", by example.com/m/p`, `p.go:3 "2" → "3", by example.com/m/p`, `p.go:3 "0" → "1", by example.com/m/p`,
		`SURVIVES `, `p.go:5 ">" → ">="`, `p.go:5 "7" → "8"`, "2 of 5 changes survive\n",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &stdout)
		}
	}
}
