// Package shell reads from the text of a shell script how it is called: its
// getopts, its loop over options with a case, or its positional parameters. It
// runs nothing. A script that does more with its arguments is not read.
//
// Start with [NewModule].
package shell

import (
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
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

// Read returns the options and arguments of the script. The time grows with the size of
// the source.
func (m *Module) Read(string) *cli.Script {
	var notes cli.Notes
	return notes.Lay(m.command(&notes))
}

func (m *Module) command(notes *cli.Notes) *cli.Command {
	file := m.parse()
	if file == nil || !utf8.Valid(m.source) { // a default could have other bytes
		notes.Add(0, "the source cannot be read")
		return nil
	}
	s := newScript(m.text, file)
	used := s.firstUse()
	if used == 0 {
		return &cli.Command{}
	}
	if s.shadows() {
		notes.Add(0, "a function has the name of a command that reads arguments")
		return nil
	}
	usage := usagetext.Parse(s.printed()...)
	r := newReader(s, usage, "")
	line := r.read(s.steps())
	if line != nil {
		line.explain(usage)
	}
	command := s.dispatch(r, line).Command()
	if command == nil {
		notes.Add(used, "how it uses its arguments is not certain")
		return nil
	}
	markFiles(command, s.fileUses())
	return command
}

// dispatch returns the command line that the script reads by its first argument.
func (s *script) dispatch(r *reader, whole *declaration) *cli.Dispatch {
	usage := r.args.usage
	d := &cli.Dispatch{First: &cli.Argument{Name: "command"}, Texts: r.args.firsts, Usage: usage.Usage()}
	if whole != nil {
		d.Whole = whole.command()
		if len(whole.positionals) > 0 { // behind the options
			first := *d.Whole.Arguments[len(whole.options)]
			first.Description = usage.Help(first.Name)
			d.First = &first
		}
	}
	d.Read = func(text string) (*cli.Command, bool) {
		usage := usage.Command(text)
		one := newReader(s, usage, text)
		line := one.read(s.steps())
		if line == nil {
			return nil, one.refused
		}
		line.explain(usage)
		behind := line.command()
		behind.Description = r.args.usage.Help(text)
		return behind, one.refused
	}
	return d
}
