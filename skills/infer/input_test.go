package infer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

// TestInputAndFiles shows the property for standard input and the names of files that a
// script's use of its arguments tells: "name r" is read, "name w" written.
func TestInputAndFiles(t *testing.T) {
	for name, test := range map[string]struct{ file, source, stdin, files string }{
		"argparse, input":          {"a.py", "import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('--top', type=int)\na = p.parse_args()\nprint(sys.stdin.read()[:a.top])\n", "stdin", ""},
		"argparse, no input":       {"a.py", "import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('--top', type=int)\na = p.parse_args()\nprint(sys.stdin.isatty())\n", "", ""},
		"a flag of this name":      {"a.py", "import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('--stdin', action='store_true')\na = p.parse_args()\nif a.stdin: print(sys.stdin.read())\n", "stdin_text", ""},
		"words, input":             {"a.py", "import sys\nname = sys.argv[1]\nprint(name, input())\n", "stdin", ""},
		"Node, input":              {"a.js", "const [name] = process.argv.slice(2)\nprocess.stdin.on('data', d => console.log(name, d))\n", "stdin", ""},
		"Node, a terminal":         {"a.js", "const [name] = process.argv.slice(2)\n// process.stdin.on\nif (process.stdin.isTTY) console.log(name)\n", "", ""},
		"shell, input":             {"a.sh", "PATTERN=\"$1\"\ngrep x | sed y\nwhile read -r line; do echo \"$PATTERN $line\"; done\n", "stdin", ""},
		"shell, fed":               {"a.sh", "PATTERN=\"$1\"\nls | while read -r line; do echo \"$PATTERN $line\"; done\n", "", ""},
		"shell, a file":            {"a.sh", "WHAT=\"$1\"\nif [ ! -f \"$WHAT\" ]; then exit 1; fi\nwc \"$WHAT\"\n", "", "what r"},
		"shell, a place":           {"a.sh", "[[ -d \"$1\" ]] || exit 1\nls \"$1\" \"$2\"\n", "", "arg1 r"},
		"shell, all":               {"a.sh", "for x in \"$@\"; do\n  if test -f \"$x\"; then wc \"$x\"; fi\ndone\n", "", "args r"},
		"shell, all in a function": {"a.sh", "main() {\n  for x in \"$@\"; do\n    [ -f \"$x\" ] || exit 1\n  done\n}\nmain \"$@\"\n", "", "args r"},
		"shell, a folder is made":  {"a.sh", "WHERE=\"${1:-build}\"\nmkdir -p \"$WHERE\"\necho > \"$WHERE/x\"\n", "", "where w"},
		"shell, written":           {"a.sh", "A=\"$1\"\nB=\"$2\"\ntr a b < \"$A\" > \"$B\"\n", "", "a r, b w"},
		"shell, an option":         {"a.sh", "while [ $# -gt 0 ]; do case \"$1\" in --what) WHAT=\"$2\"; shift 2;; *) exit 1;; esac; done\n[ -e \"$WHAT\" ]\n", "", "what r"},
		"shell, one of a function": {"a.sh", "f() { [ -f \"$1\" ]; }\necho \"$1\"\n", "", ""},
		"Python, a folder is made": {"a.py", "import argparse, os\np = argparse.ArgumentParser()\np.add_argument('where')\na = p.parse_args()\nos.makedirs(a.where, exist_ok=True)\n", "", "where w"},
	} {
		t.Run(name, func(t *testing.T) {
			entry := &skills.Entry{Script: test.file, Interpreter: Interpreter(test.file, []byte(test.source))}
			entry.SetUndeclared()
			skill := &skills.Skill{Name: "a", Files: folder(test.file, test.source), Entry: entry}
			Arguments(skill, nil)
			cli, ok := entry.Args.(skills.ParsedCLI)
			if !ok {
				t.Fatalf("%T, %v", entry.Args, entry.Unread)
			}
			var files []string
			for _, f := range cli.Files {
				if f.Certain {
					files = append(files, fmt.Sprint(f.Name, map[bool]string{true: " w", false: " r"}[f.Written]))
				}
			}
			slices.Sort(files)
			if cli.Stdin != test.stdin || strings.Join(files, ", ") != test.files {
				t.Errorf("stdin %q, files %q; want %q, %q", cli.Stdin, files, test.stdin, test.files)
			}
		})
	}
}
