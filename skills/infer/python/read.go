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

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A Script is the result of reading a Python script.
type Script struct {
	// Doc is the module's docstring without its indentation.
	Doc string
	// CommandLine is nil where the script declares none, or one that cannot be
	// known without running it; then a note says why.
	CommandLine *CommandLine
	// Notes tell of the parts that are not known, in the order of their lines.
	Notes []Note
}

// Read reads the source of the script with this file name, which stands in help
// texts for %(prog)s. It takes time and memory in proportion to the source, and
// never fails: notes tell of faults in the source.
func Read(name string, source []byte) *Script { return NewModule(source).Read(name) }

// Read is like the function [Read]. It is called once: evaluation writes to the
// module's functions.
func (m *Module) Read(name string) *Script {
	s := &Script{}
	told := &notes{}
	body, err := m.parse()
	if err != nil {
		told.add(0, "the source cannot be read: %v", err)
		s.Notes = told.all
		return s
	}
	m.findRelevant(declares)
	s.Doc = syntax.Docstring(body)
	s.CommandLine = m.commandLine(name, s.Doc, body, told)
	if s.CommandLine == nil && len(told.all) == 0 {
		s.CommandLine = m.wordsOf(name, told)
	}
	if s.CommandLine != nil {
		s.CommandLine.look(m.tokens)
	}
	s.Notes = told.sorted()
	return s
}

// commandLine follows the module and returns the command line that it reads.
func (m *Module) commandLine(name, doc string, body []*syntax.Stmt, told *notes) *CommandLine {
	e := newEvaluator(name, m, told)
	e.runModule(body)
	if len(e.parses) == 0 && e.stray == nil {
		e.runUncalled(body)
	}
	p := e.parses.chosen(e.reading)
	if p == nil {
		return nil
	}
	p.description = cmp.Or(p.description, doc)
	return newCommandLine(p, told)
}
