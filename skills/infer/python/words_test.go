package python

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Long scripts cost no more than their length.
func TestWordsHostile(t *testing.T) {
	var b strings.Builder
	b.WriteString("import sys\n")
	for n := range 4000 {
		fmt.Fprintf(&b, "v%d = sys.argv[1]\nif v%d or len(sys.argv) > %d: x = v%d\n", n, n, n%9, n)
	}
	calls := "import sys\ndef f0(a): pass\n"
	for n := range 200 {
		calls += fmt.Sprintf("def f%d(a):\n  f%d(a); f%d(a); f%d(a)\n", n+1, n, n, n)
	}
	deep := "import sys\n" + strings.Repeat("if len(sys.argv) > 1 and sys.argv[1] == 'x' or '-v' in sys.argv:\n  print(1)\n", 4000)
	for _, source := range []string{b.String(), calls + "f200(sys.argv)\n", deep} {
		start := time.Now()
		Read("tool.py", []byte(source))
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("%.60s: %v", source, took)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files")

const wordScripts = "testdata/words.txt"

// Scripts that read sys.argv themselves have the arguments that their code takes. Each
// part of the file is a script, and behind === what is read of it.
func TestWords(t *testing.T) {
	data, err := os.ReadFile(wordScripts)
	if err != nil {
		t.Fatal(err)
	}
	var golden strings.Builder
	for part := range strings.SplitSeq(string(data), "=== ") {
		want, source, _ := strings.Cut(part, "\n")
		if source == "" {
			continue
		}
		m := NewModule([]byte(source))
		read := m.Read("tool.py")
		got := strings.TrimSpace(summary(read))
		if read.CommandLine != nil && m.ReadsInput() {
			got = strings.TrimSpace(got + " (stdin)")
		}
		golden.WriteString("=== " + got + "\n" + source)
		if got != want && !*update {
			t.Errorf("got  %s\nwant %s\n%s", got, want, source)
		}
	}
	if *update {
		if err := os.WriteFile(wordScripts, []byte(golden.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The command line has the words where the script looks for them.
func TestWordsArgv(t *testing.T) {
	const script = "import sys\n"
	for _, test := range []struct{ source, args, want string }{
		{"a = sys.argv[1]\nb = sys.argv[2] if len(sys.argv) > 2 else 'x'\n", `{"a": "q", "b": "r"}`, `q r`},
		{"src = sys.argv[1]\ndst = sys.argv[2] if len(sys.argv) > 2 else 'x'\n", `{"dst": "r"}`, `"src" is required`},
		{"src = sys.argv[1]\ndst = sys.argv[2] if len(sys.argv) > 2 else 'x'\n", `{"src": "-q"}`, `-q`},
		{"src = sys.argv[1]\nfast = '--fast' in sys.argv\n", `{"src": "q", "fast": true}`, `q --fast`},
		{"src = sys.argv[1]\nfast = '--fast' in sys.argv\n", `{"src": "--fast"}`, `"src" cannot be "--fast": the script would take it for an option`},
		{"src = sys.argv[1] if len(sys.argv) > 1 else None\nfast = '--fast' in sys.argv\n", `{"fast": true}`, `"src" is missing: the script would read an option in its place`},
		{"cmd = sys.argv[1]\nif cmd == 'add': name = sys.argv[2]\nelif cmd == 'list': pass\nelse: sys.exit(1)\n", `{"cmd": "add", "name": "x"}`, `add x`},
		{"cmd = sys.argv[1]\nif cmd == 'add': name = sys.argv[2]\nelif cmd == 'list': pass\nelse: sys.exit(1)\n", `{"cmd": "list", "name": "x"}`, `"name" is not an argument of the script for the command "list"`},
		{"print(' '.join(sys.argv[1:]))\n", `{"arg1": "a b"}`, `a b`},
		{"", `{}`, ``},
		{"", `{"x": 1}`, `"x" is not an argument of the script`},
	} {
		line := Read("tool.py", []byte(script+test.source)).CommandLine
		if line == nil {
			t.Errorf("%s: no command line", test.source)
			continue
		}
		argv, err := line.Argv(decode(t, test.args))
		got := strings.Join(argv, " ")
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s%s: %s, want %s", test.source, test.args, got, test.want)
		}
	}
}
