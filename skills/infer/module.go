package infer

import (
	"path"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A module is a source in a language that is understood. It is parsed at most once,
// and not safe for concurrent use.
type module interface {
	// Runs reports whether the script does something beyond defining names.
	Runs() bool
	// ReadsInput reports whether the script reads its standard input.
	ReadsInput() bool
	// commandLine returns the command line of the script with this file name, nil if
	// the source does not determine it, and notes on parts that are not known. That of
	// a script which certainly takes no arguments has a schema without properties. It
	// is called once.
	commandLine(name string) (commandLine, []skills.SourceNote)
}

// A commandLine is the arguments of a script.
type commandLine interface {
	skills.CommandLine
	Schema() *jsonschema.Schema
	// Arguments calls do for each argument with the name of its property.
	Arguments(do func(property string, a *cli.Argument))
}

// newModule returns the module of a source, and nil of a language that is not
// understood.
func newModule(kind Kind, source []byte) module {
	switch kind {
	case Python:
		return pythonModule{python.NewModule(source)}
	case Bash:
		return shellModule{shell.NewModule(source)}
	case Node:
		return nodeModule{node.NewModule(source)}
	}
	return nil
}

type pythonModule struct{ *python.Module }

func (m pythonModule) commandLine(name string) (commandLine, []skills.SourceNote) {
	read := m.Read(name)
	var notes []skills.SourceNote
	for _, note := range read.Notes {
		notes = append(notes, skills.SourceNote{Line: note.Line, Text: note.Text})
	}
	if read.CommandLine == nil { // a nil interface
		return nil, notes
	}
	return read.CommandLine, notes
}

type shellModule struct{ *shell.Module }

func (m shellModule) commandLine(string) (commandLine, []skills.SourceNote) {
	line, note := m.Read()
	if line == nil { // a nil interface
		return nil, []skills.SourceNote{{Line: note.Line, Text: note.Text}}
	}
	return line, nil
}

type nodeModule struct{ *node.Module }

func (m nodeModule) commandLine(string) (commandLine, []skills.SourceNote) {
	read := m.Read()
	var notes []skills.SourceNote
	for _, note := range read.Notes {
		notes = append(notes, skills.SourceNote(note))
	}
	if read.CommandLine == nil { // a nil interface
		return nil, notes
	}
	return read.CommandLine, notes
}

// Sources are modules of one skill that [Find] parsed, so that [Arguments] does not
// parse them again. The zero value is empty. They are not safe for concurrent use.
type Sources struct{ modules map[string]module } // by path

// maxScript is the largest script that is read for its arguments, in bytes.
const maxScript = 1 << 20

// module returns the module of the skill's script, nil for a language that is not
// understood. It takes it out of the sources, which may be nil.
func (s *Sources) module(skill *skills.Skill) (m module) {
	script := path.Clean(skill.Entry.Script)
	if s != nil && s.modules[script] != nil {
		m = s.modules[script]
		delete(s.modules, script)
	} else if len(skill.Entry.Interpreter) > 0 {
		if source, err := skillfs.ReadRegular(skill.Files, script, maxScript); err == nil { // else a call returns the error
			m = newModule(language(skill.Entry.Interpreter), source)
		}
	}
	return m
}
