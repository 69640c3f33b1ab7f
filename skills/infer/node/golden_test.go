package node

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

var update = flag.Bool("update", false, "write testdata/golden.txt")

// The scripts of testdata have the arguments that the golden file lists, with the words
// for one value of each. The words were compared with what the real libraries read of
// them.
func TestScripts(t *testing.T) {
	var b strings.Builder
	files, _ := filepath.Glob("testdata/scripts/*")
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		describe(&b, filepath.Base(file), NewModule(source).Read(""))
	}
	const golden = "testdata/golden.txt"
	if *update {
		os.WriteFile(golden, []byte(b.String()), 0o666)
	}
	want, _ := os.ReadFile(golden)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}

func describe(b *strings.Builder, name string, s *cli.Script) {
	fmt.Fprintf(b, "== %s\n", name)
	for _, note := range s.Notes {
		fmt.Fprintf(b, "line %d: %s\n", note.Line, note.Text)
	}
	if s.CommandLine == nil {
		return
	}
	schema := s.CommandLine.Schema()
	args := map[string]any{}
	for p := schema.Properties.Oldest(); p != nil; p = p.Next() {
		data, _ := json.Marshal(p.Value)
		fmt.Fprintf(b, "%s %s\n", p.Key, data)
		args[p.Key] = sample(p.Value)
	}
	fmt.Fprintf(b, "required %v\n", schema.Required)
	argv, err := s.CommandLine.Argv(args)
	for refused := (&cli.ArgumentError{}); errors.As(err, &refused) && args[refused.Name] != nil; { // of another command
		delete(args, refused.Name)
		argv, err = s.CommandLine.Argv(args)
	}
	fmt.Fprintf(b, "%q %v\n", argv, err)
}

func sample(s *jsonschema.Schema) any {
	switch {
	case s.Enum != nil:
		return s.Enum[0]
	case s.AnyOf != nil:
		return sample(s.AnyOf[0])
	case s.Type == "boolean":
		return s.Default != true
	case s.Type == "integer", s.Type == "number":
		return json.Number("2")
	case s.Type == "array":
		return []any{sample(s.Items), sample(s.Items)}
	}
	return "a b"
}

// Runs tells programs from modules.
func TestRuns(t *testing.T) {
	for _, test := range []struct {
		source string
		runs   bool
	}{
		{"module.exports = { a: 1 };\nfunction f() {}", false},
		{"export function f() {}\nexport const a = 1;", false},
		{"import './other.js'", true},
		{"const fs = require('fs');\nmain();\nfunction main() {}", true},
		{"console.log(1)", true},
		{"if (require.main === module) f();", true},
		{"const readline = require('readline'); for await (const line of readline.createInterface({ input: process.stdin })) f(line);", true},
		{"const = (", true},
	} {
		m := NewModule([]byte(test.source))
		if runs := m.Runs(); runs != test.runs {
			t.Errorf("%q: runs %t", test.source, runs)
		}
	}
}

// A BenchmarkRead of the size of most takes less than a millisecond.
func BenchmarkRead(b *testing.B) {
	source, _ := os.ReadFile("testdata/scripts/plain1.js")
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		NewModule(source).Read("")
	}
}
