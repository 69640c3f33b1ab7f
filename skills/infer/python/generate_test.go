package python

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A generator writes Python scripts with argparse. Whatever scripts declare
// occurs as often as in 703 real ones (design/formats.md, the last table), where
// that was counted. The same seed gives the same script.
type generator struct {
	*rand.Rand
	b      strings.Builder
	indent string
	names  int
	consts []string
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
}

func (g *generator) line(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n"+g.indent)
	g.b.WriteString(g.indent + text + "\n")
	if g.one(20) {
		g.b.WriteString(pick(g, "\n", "# parser.add_argument('--no')\n", g.indent+"x = \"\"\"\nparser.add_argument('--no')\n\"\"\"\n", "    \t\n"))
	}
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

func (g *generator) one(in int) bool { return g.IntN(in) == 0 }

// chance reports true in this share of all cases.
func (g *generator) chance(percent float64) bool { return g.Float64()*100 < percent }

// text spells a string in one of Python's ways.
func (g *generator) text(s string) string {
	if g.chance(90) {
		return `"` + pyEscape(s, '"') + `"`
	}
	half := len(s) / 2
	for half > 0 && half < len(s) && s[half]&0xC0 == 0x80 {
		half--
	}
	switch g.IntN(5) {
	case 0:
		return `"""` + pyEscape(s, '"') + `"""`
	case 1:
		return "('" + pyEscape(s[:half], '\'') + "'\n    \"" + pyEscape(s[half:], '"') + `")`
	case 2:
		return `f"` + strings.NewReplacer("{", "{{", "}", "}}").Replace(pyEscape(s, '"')) + `"`
	case 3:
		if !strings.ContainsAny(s, "\\\"'\n\r\t") {
			return pick(g, "r", "R", "u", "") + "'" + s + "'"
		}
	}
	return "'" + pyEscape(s, '\'') + "'"
}

func pyEscape(s string, quote byte) string {
	return strings.NewReplacer(`\`, `\\`, string(quote), `\`+string(quote), "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s)
}

// constant makes an expression a constant of the module.
func (g *generator) constant(expression string) string {
	name := fmt.Sprintf("VALUE_%d", len(g.consts))
	g.consts = append(g.consts, name+" = "+expression)
	return name
}

var helps = []string{
	"what it is", "100%% of it (default: %(default)s)", "one of %(choices)s", "of %(prog)s, as %(dest)s", "it's \"quoted\" \\ and\n   broken", "größer, 大きい 🙂",
	"%(default)r and 5 %%", "{braces} {0}", "tab\tand", "to %(dest)s",
}

func (g *generator) help() string {
	if g.chance(0.8) {
		return `f"up to {` + g.constant("12") + `} of %(prog)s"`
	}
	if g.chance(90) {
		return g.text(helps[g.IntN(2)])
	}
	return pick(g, g.text(pick(g, helps...)), g.text(pick(g, helps...)), "argparse.SUPPRESS")
}

const imports = `#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Module's doc.

    More.
"""
from __future__ import annotations
import argparse, argparse as ap, json, pathlib
import os.path, sys
from argparse import (ArgumentParser,
    BooleanOptionalAction)
from pathlib import Path
def words(text): return text
`

// script writes a whole script.
func (g *generator) script() string {
	style := pick(g, 0, 1, 2, 2, 2)
	if style > 0 {
		g.indent = pick(g, "    ", "    ", "\t", "  ")
	}
	inner := g.indent
	g.line("parser = %s(%s)", pick(g, "argparse.ArgumentParser", "argparse.ArgumentParser", "ap.ArgumentParser", "ArgumentParser"), g.parserSettings())
	g.level("parser", 0)
	if g.chance(0.6) {
		g.line("add_common(parser)")
		g.consts = append(g.consts, "def add_common(to, name='--common'):\n    to.add_argument(name, type=int, default=1)")
	}
	made := strings.Join(g.consts, "\n") + "\n"
	switch style {
	case 0:
		made += g.b.String() + "args = parser.parse_args()\n"
	case 1:
		made += "def build():\n" + g.b.String() + inner + "return parser\nif __name__ == '__main__':\n    args = build().parse_args()\n"
	case 2:
		made += "def main(argv=None):\n" + g.b.String() + inner + "args = parser.parse_args(argv)\n" + inner + "return 0\nif __name__ == \"__main__\": sys.exit(main())\n"
	}
	made = pick(g, "", "", "", "\ufeff") + imports + made
	if g.one(10) {
		return strings.ReplaceAll(made, "\n", "\r\n")
	}
	return made
}

func (g *generator) parserSettings() string {
	var settings []string
	if g.one(2) {
		settings = append(settings, "description="+pick(g, g.text("Does it."), "__doc__"))
	}
	if g.one(10) {
		settings = append(settings, "prog="+g.text("tool"))
	}
	if g.one(20) {
		settings = append(settings, "add_help=False")
	}
	if g.one(50) {
		settings = append(settings, "argument_default="+pick(g, "None", "argparse.SUPPRESS"))
	}
	return strings.Join(settings, ", ")
}

// level writes the arguments of a parser.
func (g *generator) level(parser string, depth int) {
	for range 1 + g.IntN(9) {
		g.option(parser, true)
	}
	if g.chance(0.6) {
		g.line("group = %s.add_argument_group('More', \"arguments\")", parser)
		g.option("group", true)
	}
	if g.chance(2.4) {
		g.line("either = %s.add_mutually_exclusive_group(%s)", parser, pick(g, "", "required=True"))
		for range 2 + g.IntN(2) {
			g.option("either", false)
		}
	}
	if g.chance(1) {
		g.line("for name in %s:\n    %s.add_argument(%s, type=int, default=3)", pick(g, "['one', 'two']", g.constant("('one', 'two')")), parser, pick(g, "'--' + name", "f'--{name}'"))
	}
	if g.chance(4.8) {
		g.line("%s.set_defaults(opt_%d=None, func=lambda args: 0)", parser, g.names-1)
	}
	many := false
	for range g.IntN(3) {
		if !many {
			many = g.positional(parser)
		}
	}
	if !many && depth < 2 && g.chance(18.5) {
		g.commands(parser, depth)
	}
}

func (g *generator) commands(parser string, depth int) {
	sub := fmt.Sprintf("sub%d", depth)
	g.line("%s = %s.add_subparsers(dest='cmd%d'%s)", sub, parser, depth, pick(g, "", ", required=True", ", help='what to do'"))
	for _, name := range []string{"build", "test-all"}[:1+g.IntN(2)] {
		child := fmt.Sprintf("%s_%s", sub, strings.ReplaceAll(name, "-", "_"))
		g.line("%s = %s.add_parser(%s%s)", child, sub, g.text(name), pick(g, "", ", help='to "+name+"'", ", aliases=['"+name[:1]+"'], description='Builds.'"))
		g.level(child, depth+1)
	}
}

func (g *generator) option(parser string, mayRequire bool) {
	n := g.names
	g.names++
	flags := pick(g, []string{fmt.Sprintf("--opt-%d", n)}, []string{fmt.Sprintf("--opt-%d", n), fmt.Sprintf("--other-%d", n)}, []string{fmt.Sprintf("-x%d", n), fmt.Sprintf("--opt_%d", n)}, []string{fmt.Sprintf("-o%d", n)})
	if letter := string(rune('a' + n%7)); n < 7 && g.one(3) {
		flags = append([]string{"-" + letter}, flags...)
	}
	var parts []string
	for _, flag := range flags {
		parts = append(parts, g.text(flag))
	}
	parts = append(parts, g.settings(mayRequire)...)
	if g.one(12) {
		parts = append(parts, fmt.Sprintf("dest='dest_%d'", n))
	}
	if !g.one(4) {
		parts = append(parts, "help="+g.help())
	}
	g.line("%s.add_argument(%s)", parser, strings.Join(parts, pick(g, ", ", ",\n    ")))
}

// settings are those of an option: its action, its type, its number of values.
func (g *generator) settings(mayRequire bool) []string {
	var parts []string
	if mayRequire && g.one(8) {
		parts = append(parts, "required=True")
	}
	switch g.IntN(24) {
	case 0, 1, 2, 3, 4:
		return append(parts, pick(g, "action='store_true'", "action=\"store_true\"", "action='store_true', default=None", "default=True, action=\"store_true\""))
	case 5:
		return append(parts, pick(g, "action='store_false'", "default=False, action='store_false'"))
	case 6:
		return append(parts, "action='store_const', const="+pick(g, "4", "'x'", "None"))
	case 7:
		return append(parts, "action=\"count\""+pick(g, "", ", default=0", ", default=2"))
	case 8:
		return append(parts, "action="+pick(g, "argparse.BooleanOptionalAction", "BooleanOptionalAction")+pick(g, "", ", default=True", ", default=False"))
	case 9:
		return append(parts, "action='append_const', const='c'")
	case 10, 11:
		parts = append(parts, "action='append'")
		return append(parts, g.typed("", false)...)
	case 12:
		parts = append(parts, "action='extend'")
		return append(parts, g.typed(pick(g, "'+'", "'*'"), false)...)
	}
	nargs := pick(g, "", "", "", "", "", "", "'?'", "'*'", "'+'", "2", "argparse.ZERO_OR_MORE")
	if nargs == "'?'" && g.one(2) {
		parts = append(parts, "const="+pick(g, "'c'", "7", "None"))
	}
	return append(parts, g.typed(nargs, mayRequire)...) // what equals a default counts as absent in a group
}

// typed are type, choices and default that go together.
func (g *generator) typed(nargs string, defaults bool) []string {
	var parts []string
	if nargs != "" {
		parts = append(parts, "nargs="+nargs)
	}
	type kind struct{ typ, choices, value string }
	k := pick(g,
		kind{"", "['a', 'b c', '-d']", "'a'"}, kind{"", "('x', 'y')", "'z'"}, kind{"str", "", `'it\'s'`}, kind{"str", "", `"x"`},
		kind{"int", "range(1, 5)", "3"}, kind{"int", "[1, 2, -3]", "'2'"}, kind{"float", "[0.5, 1, 1e3]", "0.5"}, kind{"float", "", "-2"},
		kind{"Path", "", "'a/b'"}, kind{"pathlib.Path", "", "Path('c')"}, kind{"bool", "", "False"},
	)
	if g.chance(0.7) {
		k = pick(g, kind{"", "{'k': 1, 'l': 2}.keys()", "None"}, kind{"", "sorted(" + g.constant("{'b': 1, 'a': 2}") + ")", "'a'"}, kind{"", g.constant("['l', 'm']"), "'l'"}, kind{"str.lower", "list(['l', 'm'])", "'l'"})
	}
	if g.chance(0.5) {
		k = pick(g, kind{"words", "", "'w'"}, kind{"lambda s: s.strip()", "", "''"}, kind{"os.path.abspath", "", "os.getcwd()"})
	}
	if k.typ != "" {
		parts = append(parts, "type="+k.typ)
	}
	if k.choices != "" && g.one(2) {
		parts = append(parts, "choices="+k.choices)
	}
	if defaults && g.one(2) {
		parts = append(parts, "default="+g.standard(k.value, nargs))
	}
	return parts
}

// standard writes a default.
func (g *generator) standard(value, nargs string) string {
	switch {
	case nargs != "" && nargs != "'?'" && g.one(2):
		return "[" + value + ", " + value + "]"
	case g.chance(4):
		return g.constant(value)
	case nargs == "" && g.chance(0.7):
		return `os.environ.get("SURELY_NOT_SET", ` + value + ")"
	}
	return value
}

// positional writes a positional argument. It reports whether it takes any
// number.
func (g *generator) positional(parser string) bool {
	n := g.names
	g.names++
	nargs := pick(g, "", "", "", "", "'?'", "'*'", "'+'", "2", "argparse.REMAINDER")
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
		parts = append(parts, "help="+g.text(helps[g.IntN(4)]), "metavar="+g.text("FILE"))
	}
	g.line("%s.add_argument(%s)", parser, strings.Join(parts, ", "))
	return nargs == "'*'" || nargs == "'+'" || nargs == "argparse.REMAINDER" || nargs == "'?'"
}
