package python

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// FuzzRead: any source is read, in bounded time, and what is found can be shown
// to clients.
func FuzzRead(f *testing.F) {
	for seed := range uint64(20) {
		f.Add([]byte(newGenerator(seed).script()))
	}
	for _, seed := range []string{
		"x = f'{a!r:>{b}}{{'\n", "if x:\n\ty\n        z\n", "match x:\n  case [a]: pass\n", "lambda *a, b=1, **c: (yield)\n",
		"import argparse\np = argparse.ArgumentParser()\nfor i in range(9): p.add_argument('--' + str(i))\np.parse_args()\n",
		"def f(g): g(g)\nf(f)\nclass A(A): pass\nA().x.y\n", "x = [x]\nx[0][0] = x\nprint(*x, **x)\n", "d = {}\nd['d'] = d\nd.update(d)\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		s := Read("tool.py", source)
		Tools(source)
		NewModule(source).Runs()
		if line, err := syntax.SyntaxError(source); err != nil && line < 1 {
			t.Errorf("%v on line %d", err, line)
		}
		if len(s.Notes) > 16 {
			t.Errorf("%d notes", len(s.Notes))
		}
		if s.CommandLine == nil {
			return
		}
		schema := s.CommandLine.Schema()
		data, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(`:true,"type":"object"`)) {
			t.Errorf("a property without a schema: %s", data)
		}
		for _, name := range schema.Required {
			if _, ok := schema.Properties.Get(name); !ok {
				t.Errorf("%q is required and no property", name)
			}
		}
	})
}

// FuzzArgv: for any script and any arguments there is a command line, or an error
// that names a property; and each text of the arguments is in the command line
// whole.
func FuzzArgv(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(newGenerator(seed).script(), `{"opt_0": "-x", "pos1": ["a", "--"], "cmd0": "build", "opt_2": true, "opt_1": -1e300}`)
	}
	f.Add(header+"p.add_argument('x')\np.add_argument('--y', nargs='+')\np.parse_args()", `{"x": "-y", "y": ["a", "b"]}`)
	f.Add(header+"p.add_argument('--x')\np.parse_args()", `{"x": "\u0000"}`)
	f.Fuzz(func(t *testing.T, source, text string) {
		var args map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&args) != nil || len(text) > 1<<12 {
			return
		}
		c := Read("tool.py", []byte(source)).CommandLine
		if c == nil {
			return
		}
		argv, err := c.Argv(args)
		if err != nil {
			return
		}
		for name, v := range args {
			text, ok := v.(string)
			if ok && !slices.ContainsFunc(argv, func(arg string) bool {
				return arg == text || strings.HasSuffix(arg, "="+text) || propertyType(c, name) == ""
			}) {
				t.Errorf("%q: %q is not in %q", name, text, argv)
			}
		}
		for _, arg := range argv {
			if strings.IndexByte(arg, 0) >= 0 {
				t.Errorf("a NUL in %q", argv)
			}
		}
	})
}

func propertyType(c *cli.CommandLine, name string) string {
	schema, _ := c.Schema().Properties.Get(name)
	return schema.Type
}

func BenchmarkRead(b *testing.B) {
	source := []byte(newGenerator(28).script())
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Read("tool.py", source)
	}
}
