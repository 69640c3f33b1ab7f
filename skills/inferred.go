package skills

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// SetUndeclared marks an entry of which the manifest declares no arguments: see
// [Skill.InferArguments].
func (e *Entry) SetUndeclared() { e.Args, e.Inferred = RawArgv{}, true }

// InferArguments reads the arguments that nobody declared from the sources of the
// scripts: of the skill, and of its tools. No source is run.
func (s *Skill) InferArguments() {
	for _, skill := range append([]*Skill{s}, s.Tools...) {
		if e := skill.Entry; e != nil && e.Inferred {
			line, notes := skill.readCommandLine()
			e.Unread = notes
			if line != nil {
				e.Args = ParsedCLI{Object: line.Schema(), Files: fileParams(line)}
			}
		}
	}
}

// BindCommandLines gives each inferred command line its script. It is read again
// when a call needs it: what the parsers know of all scripts of a catalog would be
// most of the memory.
func (s *Skill) BindCommandLines() {
	for _, skill := range append([]*Skill{s}, s.Tools...) {
		if e := skill.Entry; e != nil && e.Inferred {
			if cli, ok := e.Args.(ParsedCLI); ok {
				cli.CommandLine = &sourceCommandLine{skill: skill}
				e.Args = cli
			}
		}
	}
}

// A sourceCommandLine is read from the skill's script at the first call.
type sourceCommandLine struct {
	skill *Skill

	once sync.Once
	line commandLine // valid after once
}

// Argv implements [CommandLine].
func (s *sourceCommandLine) Argv(args map[string]any) ([]string, error) {
	s.once.Do(func() { s.line, _ = s.skill.readCommandLine() })
	if s.line == nil {
		return nil, fmt.Errorf("the script %s is not the one that was read; reload the skills", s.skill.Entry.Script)
	}
	return s.line.Argv(args)
}

// A commandLine is read from a script.
type commandLine interface {
	CommandLine
	Schema() *jsonschema.Schema
}

// maxScript is the largest script that is read for its arguments, in bytes.
const maxScript = 1 << 20

// readCommandLine returns the command line of the skill's script, nil where its
// source does not tell it, and what else the source does not tell.
func (s *Skill) readCommandLine() (commandLine, []SourceNote) {
	script := path.Clean(s.Entry.Script)
	source, err := skillfs.ReadRegular(s.Files, script, maxScript)
	if err != nil || len(s.Entry.Interpreter) == 0 { // a call will say so
		return nil, nil
	}
	switch {
	case s.Entry.Interpreter[0] == "python3":
		read := python.Read(path.Base(script), source)
		var notes []SourceNote
		for _, note := range read.Notes {
			notes = append(notes, SourceNote{note.Line, note.Text})
		}
		if read.CommandLine != nil {
			return read.CommandLine, notes
		}
		return nil, notes
	case infer.IsShell(s.Entry.Interpreter):
		source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")) // as it is run
		if line := shell.Read(source); line != nil {
			return line, nil
		}
	}
	return nil, nil
}

// Unread returns a problem for each part of the script's arguments that its source
// does not tell.
func (s *Skill) Unread() []Problem {
	if s.Entry == nil {
		return nil
	}
	var all []Problem
	for _, note := range s.Entry.Unread {
		all = append(all, Problem{
			Severity: Note, Path: filepath.Join(filepath.Dir(s.File), filepath.FromSlash(s.Entry.Script)), Line: note.Line,
			Message: "of the script's arguments, not all is known: " + note.Text,
		})
	}
	return all
}
