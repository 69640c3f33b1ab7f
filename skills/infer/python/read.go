// Package python reads the command line of a Python script from its source,
// without running it: the arguments that are declared with argparse,
// or that the script reads from sys.argv by itself. It makes a JSON Schema of them, and of arguments that fit the schema the
// exact command line.
//
// It evaluates constants, loops over lists of them, and calls of the script's own
// functions that declare arguments. It leaves out an argument that it cannot know,
// or finds no command line at all, and says why.
//
// Start with [Read].
package python

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A Script is the result of reading a Python script.
type Script struct {
	*cli.Script
	parser *parser // of argparse; nil without one
}

// Read reads the source of the script with this file name, which stands in help
// texts for %(prog)s. It takes time and memory in proportion to the source, and
// never fails: notes tell of faults in the source.
func Read(name string, source []byte) *Script { return NewModule(source).read(name) }

// Read is like the function [Read]. It is called once: evaluation writes to the
// module's functions.
func (m *Module) Read(name string) *cli.Script { return m.read(name).Script }

func (m *Module) read(name string) *Script {
	told := new(cli.Notes)
	body, err := m.parse()
	if err != nil {
		told.Add(0, "the source cannot be read: %v", err)
		return &Script{Script: told.Lay(nil)}
	}
	m.findRelevant(declares)
	var command *cli.Command
	p := m.argparse(name, body, told)
	if p != nil {
		p.description = cmp.Or(p.description, syntax.Docstring(body))
		command = p.command(m.fileUses(true), told)
	} else if len(*told) == 0 {
		command = m.wordsOf(name, told)
	}
	return &Script{told.Lay(command), p}
}

// argparse follows the module and returns the parser that reads its command line.
func (m *Module) argparse(name string, body []*syntax.Stmt, told *cli.Notes) *parser {
	e := newEvaluator(name, m, told)
	e.runModule(body)
	if len(e.parses) == 0 && e.stray == nil {
		e.runUncalled(body)
	}
	return e.parses.chosen(e.reading)
}

// Refuses reports whether the script certainly takes a flag such as "--name" for a
// mistake: argparse reads it, and knows no option that begins so.
func (s *Script) Refuses(flag string) bool {
	p := s.parser
	if p == nil || p.lenient || p.subs != nil || strings.Contains(flag, "=") {
		return false
	}
	known := slices.Collect(maps.Keys(p.flags))
	for _, o := range p.omitted {
		if known = append(known, o.names...); len(o.names) == 0 {
			return false
		}
	}
	return !slices.ContainsFunc(known, func(name string) bool { return strings.HasPrefix(name, flag) }) &&
		!slices.ContainsFunc(p.actions, func(act *action) bool { return act.nargs == "..." })
}
