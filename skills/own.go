package skills

import (
	"bytes"
	"path"
	"path/filepath"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
)

// Own passes arguments as the script's own parser wants them: see [Static]. Where
// that cannot be known, it passes [Words]. The source is read, and never run,
// when it is first asked for: of most scripts nobody does.
type Own struct {
	// Skill is the one whose script it is.
	Skill *Skill

	once  sync.Once
	args  Args          // valid after once
	notes []python.Note // likewise
}

func (o *Own) known() Args {
	o.once.Do(func() { o.args, o.notes = readArgs(o.Skill) })
	return o.args
}

// Unread notes what the source of a script does not tell of its own arguments.
func (e *Entry) Unread() []Problem {
	own, ok := e.Args.(*Own)
	if !ok {
		return nil
	}
	own.known()
	var all []Problem
	for _, note := range own.notes {
		all = append(all, Problem{
			Severity: Note, Path: filepath.Join(filepath.Dir(own.Skill.File), filepath.FromSlash(e.Script)), Line: note.Line,
			Message: "of the script's arguments, not all is known: " + note.Text,
		})
	}
	return all
}

// Schema returns that of the script's own arguments.
func (o *Own) Schema() *jsonschema.Schema { return o.known().Schema() }

// Pass returns what the script is given.
func (o *Own) Pass(args map[string]any) (Passed, error) { return o.known().Pass(args) }

func (o *Own) params() []Param { return o.known().params() }

// readArgs returns how the skill's script takes arguments, from its source, and
// what that does not tell.
func readArgs(skill *Skill) (Args, []python.Note) {
	script := path.Clean(skill.Entry.Script)
	source, err := readFile(skill.Files, script, maxManifest)
	if err != nil { // a call will say so
		return Words{}, nil
	}
	switch {
	case len(skill.Entry.Interpreter) == 0:
	case skill.Entry.Interpreter[0] == "python3":
		read := python.Read(path.Base(script), source)
		if read.CommandLine != nil {
			return Static{read.CommandLine}, read.Notes
		}
		return Words{}, read.Notes
	case infer.IsShell(skill.Entry.Interpreter):
		source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")) // as it is run
		if line := shell.Read(source); line != nil {
			return Static{line}, nil
		}
	}
	return Words{}, nil
}
