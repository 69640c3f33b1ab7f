package skills

import (
	"bytes"
	"path"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/pyargs"
	"github.com/skillsmcp/skills-mcp/skills/scripts"
	"github.com/skillsmcp/skills-mcp/skills/shellargs"
)

// Own passes arguments as the script's own parser wants them: see [Static]. Where
// that cannot be known, it passes [Words]. The source is read, and never run,
// when it is first asked for: of most scripts nobody does.
type Own struct {
	// Skill is the one whose script it is.
	Skill *Skill

	once sync.Once
	args Args // valid after once
}

func (o *Own) known() Args {
	o.once.Do(func() { o.args = readArgs(o.Skill) })
	return o.args
}

// Schema returns that of the script's own arguments.
func (o *Own) Schema() *jsonschema.Schema { return o.known().Schema() }

// Pass returns what the script is given.
func (o *Own) Pass(args map[string]any) (Passed, error) { return o.known().Pass(args) }

func (o *Own) params() []Param { return o.known().params() }

// readArgs returns how the skill's script takes arguments, from its source.
func readArgs(skill *Skill) Args {
	script := path.Clean(skill.Entry.Script)
	source, err := readFile(skill.Files, script, maxManifest)
	if err != nil { // a call will say so
		return Words{}
	}
	switch {
	case len(skill.Entry.Interpreter) == 0:
	case skill.Entry.Interpreter[0] == "python3":
		if line := pyargs.Read(path.Base(script), source).CommandLine; line != nil {
			return Static{line}
		}
	case scripts.IsShell(skill.Entry.Interpreter):
		source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")) // as it is run
		if line := shellargs.Read(source); line != nil {
			return Static{line}
		}
	}
	return Words{}
}
