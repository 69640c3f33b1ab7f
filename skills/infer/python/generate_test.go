package python

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A generator writes Python scripts with argparse that differ in everything
// that [Read] has to understand. The same seed gives the same script.
type generator struct {
	*rand.Rand
	b      strings.Builder
	indent string
	names  int
	// standard is a default that the last option can have.
	standard string
	consts   []string
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
}

func (g *generator) line(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n"+g.indent)
	g.b.WriteString(g.indent + text + "\n")
	if g.IntN(12) == 0 {
		g.b.WriteString(pick(g, "\n", "# parser.add_argument('--no')\n", g.indent+"x = \"\"\"\nparser.add_argument('--no')\n\"\"\"\n", "    \t\n"))
	}
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

func (g *generator) one(in int) bool { return g.IntN(in) == 0 }

// text spells a string in one of Python's ways.
func (g *generator) text(s string) string {
	half := len(s) / 2
	for half > 0 && half < len(s) && s[half]&0xC0 == 0x80 {
		half--
	}
	switch g.IntN(9) {
	case 0:
		return "'" + pyEscape(s, '\'') + "'"
	case 1:
		return `"""` + pyEscape(s, '"') + `"""`
	case 2:
		return "('" + pyEscape(s[:half], '\'') + "'\n    \"" + pyEscape(s[half:], '"') + `")`
	case 3:
		return `f"` + strings.NewReplacer("{", "{{", "}", "}}").Replace(pyEscape(s, '"')) + `"`
	case 4:
		if !strings.ContainsAny(s, "\\\"'\n\r\t") {
			return pick(g, "r", "R", "u", "") + "'" + s + "'"
		}
	case 5:
		name := fmt.Sprintf("TEXT_%d", len(g.consts))
		g.consts = append(g.consts, fmt.Sprintf("%s = %q", name, s))
		if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
			return pick(g, name, `f"{`+name+`}"`, `"" + `+name, name+".replace('\\n', ' ')")
		}
	case 6:
		return `"` + pyEscape(s[:half], '"') + `" \` + "\n" + `    '` + pyEscape(s[half:], '\'') + "'"
	}
	return `"` + pyEscape(s, '"') + `"`
}

func pyEscape(s string, quote byte) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\' || r == rune(quote):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

var helps = []string{
	"what it is", "100%% of it (default: %(default)s)", "one of %(choices)s", "of %(prog)s, as %(dest)s", "it's \"quoted\" \\ and\n   broken", "größer, 大きい 🙂",
	"%(default)r and %(const)s", "{braces} {0}", "tab\tand (type: %(type)s)", "required: %(required)s, nargs %(nargs)s",
}

// script writes a whole script.
func (g *generator) script() string {
	body := &strings.Builder{}
	style := g.IntN(4)
	g.indent = ""
	if style > 0 {
		g.indent = pick(g, "    ", "\t", "  ")
	}
	inner := g.indent
	if style == 3 {
		g.indent += inner
	}
	maker := pick(g, "argparse.ArgumentParser", "ap.ArgumentParser", "ArgumentParser", "Custom")
	g.line("parser = %s(%s)", maker, g.parserSettings())
	g.level("parser", 0)
	made := g.b.String()
	body.WriteString(pick(g, "", "\ufeff"))
	body.WriteString("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\"\"\"Module's doc.\n\n    More.\n\"\"\"\nfrom __future__ import annotations\nimport argparse, argparse as ap, json, pathlib\nimport os.path, sys\nfrom argparse import (ArgumentParser,\n    BooleanOptionalAction)\nfrom pathlib import Path\n")
	body.WriteString("class Custom(argparse.ArgumentParser):\n    def error(self, message):\n        raise ValueError(message)\n")
	body.WriteString("def words(text): return text\n")
	body.WriteString(strings.Join(g.consts, "\n") + "\n")
	switch style {
	case 0:
		body.WriteString(made + "args = parser.parse_args()\n")
	case 1:
		body.WriteString("def build():\n" + made + inner + "return parser\nif __name__ == '__main__':\n    args = build().parse_args()\n")
	case 2:
		body.WriteString("def main(argv=None):\n" + made + inner + "args = parser.parse_args(argv)\n" + inner + "return 0\nif __name__ == \"__main__\": sys.exit(main())\n")
	case 3:
		body.WriteString("class App:\n" + inner + "def __init__(self, argv):\n" + made + inner + inner + "self.parser = parser\n" + inner + inner + "self.argv = argv\n" + inner + "def run(self):\n" + inner + inner + "return self.parser.parse_args(self.argv)\nApp(sys.argv[1:]).run()\n")
	}
	if g.one(5) {
		return strings.ReplaceAll(body.String(), "\n", "\r\n")
	}
	return body.String()
}

func (g *generator) parserSettings() string {
	var settings []string
	if g.one(2) {
		settings = append(settings, "description="+pick(g, g.text("Does it."), "__doc__"))
	}
	if g.one(6) {
		settings = append(settings, "prog="+g.text("tool"))
	}
	if g.one(8) {
		settings = append(settings, "add_help=False")
	}
	if g.one(10) {
		settings = append(settings, "argument_default="+pick(g, "None", "argparse.SUPPRESS"))
	}
	return strings.Join(settings, ", ")
}

// level writes the arguments of a parser.
func (g *generator) level(parser string, depth int) {
	taken := map[string]bool{}
	for range 1 + g.IntN(6) {
		switch g.IntN(8) {
		case 0:
			g.line("group = %s.add_argument_group('More', \"arguments\")", parser)
			g.option("group", taken)
		case 1:
			required := pick(g, "", "required=True", "required=False")
			g.line("either = %s.add_mutually_exclusive_group(%s)", parser, required)
			for range 2 + g.IntN(2) {
				g.optionOf("either", taken, false)
			}
		default:
			g.option(parser, taken)
		}
	}
	if g.one(6) && len(taken) > 0 {
		g.line("%s.set_defaults(opt_%d=%s, func=lambda args: 0)", parser, g.names-1, pick(g, "None", g.standard))
	}
	many := false
	for range g.IntN(3) {
		if !many {
			many = g.positional(parser, depth)
		}
	}
	if !many && depth < 2 && g.one(3) {
		g.commands(parser, depth)
	}
}

func (g *generator) commands(parser string, depth int) {
	sub := fmt.Sprintf("sub%d", depth)
	g.line("%s = %s.add_subparsers(%s)", sub, parser, pick(g, "dest='cmd"+strconv.Itoa(depth)+"'", "dest='cmd"+strconv.Itoa(depth)+"', required=True", "dest=\"cmd"+strconv.Itoa(depth)+"\", help='what to do'"))
	for _, name := range []string{"build", "test-all"}[:1+g.IntN(2)] {
		child := fmt.Sprintf("%s_%s", sub, strings.ReplaceAll(name, "-", "_"))
		g.line("%s = %s.add_parser(%s%s)", child, sub, g.text(name), pick(g, "", ", help='to "+name+"'", ", aliases=['"+name[:1]+"'], description='Builds.'"))
		g.level(child, depth+1)
	}
}

func (g *generator) option(parser string, taken map[string]bool) { g.optionOf(parser, taken, true) }

func (g *generator) optionOf(parser string, taken map[string]bool, mayRequire bool) {
	n := g.names
	g.names++
	flags := pick(g, []string{fmt.Sprintf("--opt-%d", n)}, []string{fmt.Sprintf("--opt-%d", n), fmt.Sprintf("--other-%d", n)}, []string{fmt.Sprintf("-x%d", n), fmt.Sprintf("--opt_%d", n)}, []string{fmt.Sprintf("-o%d", n)})
	if letter := string(rune('a' + n%7)); n < 7 && g.one(3) {
		flags = append([]string{"-" + letter}, flags...)
	}
	taken[flags[0]] = true
	var parts []string
	for _, flag := range flags {
		parts = append(parts, g.text(flag))
	}
	parts = append(parts, g.settings(mayRequire)...)
	if g.one(8) {
		parts = append(parts, fmt.Sprintf("dest='dest_%d'", n))
	}
	if g.one(2) {
		parts = append(parts, "help="+pick(g, g.text(pick(g, helps...)), g.text(pick(g, helps...)), "argparse.SUPPRESS"))
	}
	g.line("%s.add_argument(%s)", parser, strings.Join(parts, pick(g, ", ", ",\n    ")))
}

// settings are those of an option: what it does, of which type, how often.
func (g *generator) settings(mayRequire bool) []string {
	var parts []string
	g.standard = "None"
	if mayRequire && g.one(8) {
		parts = append(parts, "required=True")
	}
	switch g.IntN(12) {
	case 0:
		return append(parts, pick(g, "action='store_true'", "action='store_true', default=None", "default=True, action=\"store_true\""))
	case 1:
		return append(parts, pick(g, "action='store_false'", "default=False, action='store_false'"))
	case 2:
		return append(parts, "action='store_const', const="+pick(g, "4", "'x'", "None"))
	case 3:
		return append(parts, "action=\"count\""+pick(g, "", ", default=0", ", default=2"))
	case 4:
		return append(parts, "action="+pick(g, "argparse.BooleanOptionalAction", "BooleanOptionalAction")+pick(g, "", ", default=True", ", default=False"))
	case 5:
		return append(parts, "action='append_const', const='c'")
	case 6:
		parts = append(parts, "action='append'")
		return append(parts, g.typed(pick(g, "", "2", "'+'"), false)...)
	case 7:
		parts = append(parts, "action='extend'")
		return append(parts, g.typed(pick(g, "'+'", "'*'"), false)...)
	}
	nargs := pick(g, "", "", "", "", "'?'", "'*'", "'+'", "2", "1", "argparse.ZERO_OR_MORE")
	if nargs == "'?'" && g.one(2) {
		parts = append(parts, "const="+pick(g, "'c'", "7", "None"))
	}
	g.standard = pick(g, "3", "['a']")
	return append(parts, g.typed(nargs, true)...)
}

// typed are type, choices and default that go together.
func (g *generator) typed(nargs string, defaults bool) []string {
	var parts []string
	if nargs != "" {
		parts = append(parts, "nargs="+nargs)
	}
	type kind struct{ typ, choices, value string }
	k := pick(g,
		kind{"", "['a', 'b c', '-d']", "'a'"}, kind{"", "('x', 'y')", "'z'"}, kind{"", "{'k': 1, 'l': 2}.keys()", "None"}, kind{"str", "", `'it\'s'`},
		kind{"int", "range(1, 5)", "3"}, kind{"int", "[1, 2, -3]", "'2'"}, kind{"float", "[0.5, 1, 1e3]", "0.5"}, kind{"float", "", "-2"},
		kind{"Path", "", "'a/b'"}, kind{"pathlib.Path", "", "Path('c')"}, kind{"json.loads", "", "None"}, kind{"bool", "", "False"},
		kind{"words", "", "'w'"}, kind{"lambda s: s.strip()", "", "''"}, kind{"os.path.abspath", "", "os.getcwd()"}, kind{"str.lower", "list(['l', 'm'])", "'l'"},
	)
	if k.typ != "" {
		parts = append(parts, "type="+k.typ)
	}
	if k.choices != "" && g.one(2) {
		parts = append(parts, "choices="+k.choices)
	}
	if defaults && g.one(2) {
		value := k.value
		if nargs != "" && nargs != "'?'" && g.one(2) {
			value = "[" + value + ", " + value + "]"
		}
		parts = append(parts, "default="+value)
	}
	return parts
}

// positional writes a positional argument. It reports whether it takes any
// number.
func (g *generator) positional(parser string, depth int) bool {
	n := g.names
	g.names++
	nargs := pick(g, "", "", "", "'?'", "'*'", "'+'", "2", "argparse.REMAINDER")
	parts := []string{g.text(fmt.Sprintf("pos%d", n))}
	parts = append(parts, g.typed(nargs, nargs == "'?'" || nargs == "'*'")...)
	if nargs == "'*'" || nargs == "'?'" {
		// Python 3.11 checks what is absent against the choices, too.
		parts = slices.DeleteFunc(parts, func(s string) bool { return strings.HasPrefix(s, "choices=") })
		if !slices.ContainsFunc(parts, func(s string) bool { return strings.HasPrefix(s, "default=") }) {
			parts = append(parts, "default=None") // it gives argparse.SUPPRESS to the type
		}
	}
	if g.one(2) {
		parts = append(parts, "help="+g.text(pick(g, helps...)), "metavar="+g.text("FILE"))
	}
	g.line("%s.add_argument(%s)", parser, strings.Join(parts, ", "))
	return nargs == "'*'" || nargs == "'+'" || nargs == "argparse.REMAINDER" || nargs == "'?'"
}
