package python

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const optparseScript = `#!/usr/bin/env python3
"""Module."""
import json, sys
from optparse import OptionParser, OptionGroup, make_option

def parser():
    p = OptionParser("%prog [options] SOURCE [TARGET]", option_list=[make_option("-q", action="store_true", dest="quiet")], version="1")
    p.add_option("-o", "--output", default="out.txt", metavar="FILE", help="100% of it [default: %default] by %prog")
    p.add_option("-n", type="int", dest="number", nargs=1, help="no %default")
    p.add_option("--ratio", type=float, default="0.5")
    p.add_option("--pair", nargs=2, type="int")
    p.add_option("-t", "--tag", action="append")
    p.add_option("--mode", type="choice", choices=["fast", "slow"])
    p.add_option("-v", action="count", dest="verbose", default=0)
    p.add_option("--hook", action="callback", callback=print)
    p.add_option("--computed", type=sys.flags)
    g = OptionGroup(p, "More")
    p.add_option_group(g)
    g.add_option("--no-color", action="store_false", dest="color", default=True)
    unused = OptionGroup(p, "Unused")
    unused.add_option("--unused")
    return p

def main(argv=None):
    p = parser()
    options, args = p.parse_args(argv)
    if len(args) not in (1, 2):
        p.error("a source, and a target")
    source = args[0]
    target = args[1] if len(args) > 1 else "x"
    print(json.dumps([vars(options), source, target]))

if __name__ == "__main__":
    main()
`

// Options of optparse, and the arguments that the script reads of the others, are those
// that Python's own optparse reads.
func TestOptparse(t *testing.T) {
	s := Read("tool.py", []byte(optparseScript))
	want := "quiet:boolean=false output:string=\"out.txt\" number:integer ratio:number pair:array tag:array mode:string[fast slow] verbose:integer color:boolean=true source:string* target:string=\"x\" (line 15: --hook has an action that is not known and is left out) (line 16: --computed has a type that is not known and is left out)"
	if got := summary(s); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	output, _ := s.CommandLine.Schema().Properties.Get("output")
	number, _ := s.CommandLine.Schema().Properties.Get("number")
	if got, want := output.Description+"|"+number.Description, "100% of it [default: out.txt] by tool.py|no none"; got != want {
		t.Errorf("descriptions %s, want %s", got, want)
	}
	file := filepath.Join(t.TempDir(), "tool.py")
	if err := os.WriteFile(file, []byte(optparseScript), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"x", "", "-", "-q", "-o", "--output=y", "=", "-=", "a b", "--tag", "ü"} {
		args := map[string]any{
			"quiet": true, "output": text, "number": json.Number("-3"), "ratio": json.Number("-1.5"), "pair": []any{json.Number("-1"), json.Number("2")},
			"tag": []any{text, text}, "mode": "slow", "verbose": json.Number("2"), "color": false, "source": text, "target": text,
		}
		argv, err := s.CommandLine.Argv(args)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		quoted, _ := json.Marshal(text)
		want := fmt.Sprintf(`[{"quiet": true, "output": %[1]s, "number": -3, "ratio": -1.5, "pair": [-1, 2], "tag": [%[1]s, %[1]s], "mode": "slow", "verbose": 2, "color": false}, %[1]s, %[1]s]`, quoted)
		if got := optparsed(t, file, argv); !sameJSON(got, want) {
			t.Errorf("%q: python read %s, want %s", argv, got, want)
		}
	}
}

// optparsed returns what the script at a path prints.
func optparsed(t *testing.T, file string, argv []string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
		t.Fatal("there is no python3")
	}
	if err != nil {
		t.Skip("SKIPPED: nothing is compared with Python's optparse: there is no python3")
	}
	// The options that are left out stand in no command line.
	source, _ := os.ReadFile(file)
	script := file + ".run"
	if err := os.WriteFile(script, []byte(filterLines(string(source), "--computed", "--unused", "--hook")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, append([]string{"-E", "-W", "ignore", script}, argv...)...).Output()
	if err != nil {
		t.Errorf("%q: %v", argv, err)
	}
	return string(out)
}

// filterLines returns a text without the lines that have one of some words.
func filterLines(text string, words ...string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// What is not certain is left out, or leaves the whole command line unread.
func TestOptparseNotKnown(t *testing.T) {
	const start = "import sys\nfrom optparse import OptionParser\np = OptionParser()\n"
	for name, test := range map[string]struct{ source, want string }{
		"no arguments":         {"p.add_option('-a')\no, args = p.parse_args()\n", "a:string"},
		"all":                  {"p.add_option('-a')\n(o, files) = p.parse_args(sys.argv[1:])\nfor f in files: print(f)\n", "a:string files:array"},
		"a list that is given": {"p.add_option('-a')\no, args = p.parse_args(['x'])\n", "none (line 5: parse_args does not read the script's arguments)"},
		"given away":           {"p.add_option('-a')\nextend(p)\np.parse_args()\n", "none (line 5: the parser is given to a function of another file, which may add arguments)"},
		"passed on":            {"p.add_option('-a')\no, args = p.parse_args()\nrun(args)\n", "none (line 6: it passes its arguments on)"},
		"options in a loop":    {"for x in sys.path: p.add_option('--' + x)\np.parse_args()\n", "(line 4: an argument has flags that are computed and is left out)"},
		"removed":              {"p.add_option('-a')\np.remove_option('-a')\np.parse_args()\n", "none (line 5: the parser is changed with remove_option)"},
		"a condition":          {"if sys.maxsize > 9: p.add_option('-a')\np.parse_args()\n", "(line 4: -a depends on a condition and is left out)"},
		"another parser":       {"q = make()\nq.add_option('-a')\nq.parse_args()\n", "none (line 6: which parser parse_args belongs to is not known)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(Read("tool.py", []byte(start+test.source))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
