package python

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// Sources that would take a careless reader for ever, or all memory, take
// neither. The bound is far above what they take, which is tens of milliseconds.
func TestHostile(t *testing.T) {
	const size = syntax.MaxSource - 1000
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	calls := &strings.Builder{}
	for n := range 60 {
		fmt.Fprintf(calls, "def f%d(p): f%d(p); f%d(p); p.add_argument('--x')\n", n, n+1, n+1)
	}
	items := &strings.Builder{}
	for n := range 4000 {
		fmt.Fprintf(items, "d['%d'] = 1\n", n)
	}
	blocks := &strings.Builder{}
	for n := range 100 {
		fmt.Fprintf(blocks, "%sif x:\n", strings.Repeat(" ", n))
	}
	for name, source := range map[string]string{
		"brackets":         fill("("),
		"calls":            "x" + fill("()"),
		"signs":            fill("-"),
		"nots":             fill("not "),
		"powers":           "x" + fill("**x"),
		"ternaries":        "x" + fill(" if x else x"),
		"lambdas":          fill("lambda:"),
		"strings":          fill("'a'"),
		"f-strings":        "f'" + fill("{x}") + "'",
		"open fields":      "f'''" + fill("{") + "'''",
		"nested f-strings": fill("f'{f\"{"),
		"specs":            "f'''{x:" + fill("{") + "'''",
		"doubling":         "a = 'x' * 9\n" + fill("a = a + a\n"),
		"growing lists":    "a = [1]\n" + fill("a = [*a, *a]\n"),
		"growing dicts":    "a = {}\n" + fill("a = {**a, **a, 'x': 1}\n"),
		"joined":           "a = 'xx'\n" + fill("a = a.join([a, a])\n"),
		"functions":        header + calls.String() + "f0(p)\np.parse_args()\n",
		"loops":            "a = range(200)\nfor x in a:\n for x in a:\n  for x in a:\n   for x in a: y = x\n" + header + "p.parse_args()\n",
		"blocks":           blocks.String() + strings.Repeat(" ", 100) + "pass\n",
		"dedents":          fill("if x:\n if x:\n  y\n"),
		"arguments":        header + fill("p.add_argument('x')\n") + "p.parse_args()\n",
		"elifs":            "if x: y\n" + fill("elif x: y\n"),
		"decorators":       fill("@x\n"),
		"definitions":      fill("def f(x): x\n"),
		"commas":           fill(","),
		"backslashes":      "x = '" + fill(`\\`) + "'",
		"ranges":           fill("range(4096)\n"),
		"items":            "d = {i: i for i in x}\nd = {}\n" + items.String() + strings.Repeat("d.items()\n", size/20),
		"spreads":          "a = range(4000)\n" + fill("[*a]\n"),
		"parents":          "from argparse import *\np = [ArgumentParser(add_help=False)] * 1\np = ArgumentParser(add_help=False)\np.add_mutually_exclusive_group()\n" + fill("p = ArgumentParser(parents=[p, p], add_help=False)\n") + "p.parse_args()",
		"a long name":      fill("a"),
		"a long number":    fill("9"),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			Read("tool.py", []byte(source))
			Tools([]byte(source))
			if took := time.Since(start); took > 3*time.Minute {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
		})
	}
}
