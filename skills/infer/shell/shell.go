// Package shell reads from the text of a shell script how it is called: its
// getopts, its loop over options with a case, or its positional parameters. It
// runs nothing. It does not read a script that does more with its arguments than the
// few known forms.
//
// Start with [NewModule].
package shell

import (
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A Module is the source of a script for bash or sh. It is parsed at most once, when
// the first method needs it, and is not safe for concurrent use.
type Module struct {
	source []byte

	parsed bool
	text   string
	file   *syntax.File // nil if the source cannot be read
}

// NewModule returns the module with this source, which must not change.
func NewModule(source []byte) *Module { return &Module{source: source} }

func (m *Module) parse() *syntax.File {
	if !m.parsed {
		m.parsed = true
		m.text, m.file = parse(m.source)
	}
	return m.file
}

// Read returns the options and arguments of the script. It is nil if they are not
// certain, and if there are none. The time grows with the size of the source.
func (m *Module) Read() *CommandLine {
	file := m.parse()
	if file == nil || !utf8.Valid(m.source) { // a default could have other bytes
		return nil
	}
	s := newScript(m.text, file)
	if s.shadows() {
		return nil
	}
	line := newReader(s).read(s.steps())
	if line != nil {
		line.explain(s.usage())
	}
	return line
}
