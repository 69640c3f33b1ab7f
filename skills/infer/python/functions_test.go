package python

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A function of the file gets the text of its argument.
func TestTypesThatAreFunctions(t *testing.T) {
	const header = "import argparse\np = argparse.ArgumentParser()\n"
	for declared, want := range map[string]string{
		"p.add_argument('--x', type=lambda v: v.lower() == 'true', default=True)": "x:string (Default: True.)",
		"p.add_argument('--x', type=lambda v: parse(v), default=True, help='h')":  "x:string (h. Default: True.)",
		"p.add_argument('--x', type=lambda v: int(v, 0), default=5)":              "x:string (Default: 5.)",
		"p.add_argument('--x', type=lambda v: v.split(','))":                      "x:string",
		"p.add_argument('--x', type=lambda: True, default=0.5)":                   "x:string (Default: 0.5.)",
	} {
		s := Read("tool.py", []byte(header+declared+"\np.parse_args()"))
		got := summary(s.Script)
		if x, _ := s.CommandLine.Schema().Properties.Get("x"); x.Description != "" {
			got += " (" + x.Description + ")"
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", declared, got, want)
		}
	}
}

// Functions in bodies that are parsed later declare arguments, too, and an error in one
// is found where each statement is parsed.
func TestBodiesParsedLater(t *testing.T) {
	for source, want := range map[string]string{
		"import argparse\ndef main():\n  def add(p):\n    p.add_argument('--n', type=int)\n  p = argparse.ArgumentParser()\n  add(p)\n  p.parse_args()\nmain()\n":           "n:integer",
		"import argparse\nclass A:\n  def f(self):\n    p = argparse.ArgumentParser()\n    p.add_argument('--n')\n    p.parse_args()\nclass B:\n  f = 1\ndef f():\n  x y\n": "",
	} {
		s := Read("tool.py", []byte(source))
		got := ""
		if s.CommandLine != nil {
			got = summary(s.Script)
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", source, got, want)
		}
	}
	if line, err := syntax.SyntaxError([]byte("def f():\n  def g():\n    x y\n")); line != 3 || err == nil {
		t.Errorf("line %d, %v", line, err)
	}
}

func TestRequiredOfCommands(t *testing.T) {
	s := Read("tool.py", []byte(`import argparse
p = argparse.ArgumentParser()
p.add_argument("--verbose", action="store_true")
c = p.add_subparsers(dest="command", required=True)
for name in ["get", "put", "list"]:
    s = c.add_parser(name)
    s.add_argument("--limit", type=int, help="how many", required=name == "list")
a = c.add_parser("one")
a.add_argument("key", help="of the entry")
a.add_argument("--out")
b = c.add_parser("two")
b.add_argument("key", help="of the entry")
p.parse_args()
`))
	want := map[string]string{
		"verbose": "",
		"limit":   "how many. For the command get, list, put. Required for list.",
		"key":     "of the entry. Required for one, two.",
		"out":     "For the command one.",
	}
	for name, text := range want {
		p, ok := s.CommandLine.Schema().Properties.Get(name)
		if !ok || p.Description != text {
			t.Errorf("%s: %+v, want %q", name, p, text)
		}
	}
}
