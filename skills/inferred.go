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
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Inferred passes arguments as the script's own parser wants them: see [ParsedCLI]. Where
// that cannot be known, it passes [RawArgv]. The source is read, and never run,
// when it is first asked for: of most scripts nobody does.
type Inferred struct {
	// Skill is the one whose script it is.
	Skill *Skill

	once  sync.Once
	args  Args          // valid after once
	notes []python.Note // likewise
}

func (i *Inferred) known() Args {
	i.once.Do(func() { i.args, i.notes = readArgs(i.Skill) })
	return i.args
}

// Unread notes what the source of a script does not tell of its own arguments.
func (e *Entry) Unread() []Problem {
	own, ok := e.Args.(*Inferred)
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
func (i *Inferred) Schema() *jsonschema.Schema { return i.known().Schema() }

// Pass returns what the script is given.
func (i *Inferred) Pass(args map[string]any) (Passed, error) { return i.known().Pass(args) }

func (i *Inferred) params() []Param { return i.known().params() }

// maxScript is the largest script that is read for its arguments, in bytes.
const maxScript = 1 << 20

// readArgs returns how the skill's script takes arguments, from its source, and
// what that does not tell.
func readArgs(skill *Skill) (Args, []python.Note) {
	script := path.Clean(skill.Entry.Script)
	source, err := skillfs.ReadRegular(skill.Files, script, maxScript)
	if err != nil { // a call will say so
		return RawArgv{}, nil
	}
	switch {
	case len(skill.Entry.Interpreter) == 0:
	case skill.Entry.Interpreter[0] == "python3":
		read := python.Read(path.Base(script), source)
		if read.CommandLine != nil {
			return ParsedCLI{read.CommandLine}, read.Notes
		}
		return RawArgv{}, read.Notes
	case infer.IsShell(skill.Entry.Interpreter):
		source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")) // as it is run
		if line := shell.Read(source); line != nil {
			return ParsedCLI{line}, nil
		}
	}
	return RawArgv{}, nil
}
