package infer

import (
	"path"

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
	// Read returns the command line of the script with this file name. It is called once.
	Read(name string) *cli.Script
}

// newModule returns the module of a source, and nil of a language that is not
// understood.
func newModule(kind Kind, source []byte) module {
	switch kind {
	case Python:
		return python.NewModule(source)
	case Bash:
		return shell.NewModule(source)
	case Node:
		return node.NewModule(source)
	}
	return nil
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
