package infer

import (
	"bytes"
	"fmt"
	"path"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Arguments reads the arguments that nobody declared from the sources of the
// scripts: of the skill, and of its tools. No source is run. Sources are those that
// [Find] read of the skill; nil reads all.
func Arguments(s *skills.Skill, sources *Sources) {
	for _, skill := range append([]*skills.Skill{s}, s.Tools...) {
		if e := skill.Entry; e != nil && e.Inferred {
			line, notes := readCommandLine(skill, sources)
			e.Unread = notes
			if line != nil {
				e.Args = skills.ParsedCLI{Object: line.Schema(), Files: fileParams(line)}
			}
		}
	}
}

// Bind gives each inferred command line its script. It is read again
// when a call needs it: what the parsers know of all scripts of a catalog would be
// most of the memory.
func Bind(s *skills.Skill) {
	for _, skill := range append([]*skills.Skill{s}, s.Tools...) {
		if e := skill.Entry; e != nil && e.Inferred {
			if cli, ok := e.Args.(skills.ParsedCLI); ok {
				cli.CommandLine = &sourceCommandLine{skill: skill}
				e.Args = cli
			}
		}
	}
}

// A sourceCommandLine is read from the skill's script at the first call.
type sourceCommandLine struct {
	skill *skills.Skill

	once sync.Once
	line commandLine // valid after once
}

// Argv implements [skills.CommandLine].
func (s *sourceCommandLine) Argv(args map[string]any) ([]string, error) {
	s.once.Do(func() { s.line, _ = readCommandLine(s.skill, nil) })
	if s.line == nil {
		return nil, fmt.Errorf("the script %s is not the one that was read; reload the skills", s.skill.Entry.Script)
	}
	return s.line.Argv(args)
}

// A commandLine is read from a script.
type commandLine interface {
	skills.CommandLine
	Schema() *jsonschema.Schema
}

// maxScript is the largest script that is read for its arguments, in bytes.
const maxScript = 1 << 20

// readCommandLine returns the command line of the skill's script, nil where its
// source does not tell it, and what else the source does not tell.
func readCommandLine(s *skills.Skill, sources *Sources) (commandLine, []skills.SourceNote) {
	script := path.Clean(s.Entry.Script)
	if module := sources.take(script); module != nil && isPython(s.Entry.Interpreter) {
		return readModule(script, module)
	}
	source, err := skillfs.ReadRegular(s.Files, script, maxScript)
	if err != nil || len(s.Entry.Interpreter) == 0 { // a call will say so
		return nil, nil
	}
	switch {
	case isPython(s.Entry.Interpreter):
		return readModule(script, python.NewModule(source))
	case IsShell(s.Entry.Interpreter):
		source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")) // as it is run
		if line := shell.Read(source); line != nil {
			return line, nil
		}
	}
	return nil, nil
}

func isPython(interpreter []string) bool { return len(interpreter) > 0 && interpreter[0] == "python3" }

func readModule(script string, module *python.Module) (commandLine, []skills.SourceNote) {
	read := module.Read(path.Base(script))
	var notes []skills.SourceNote
	for _, note := range read.Notes {
		notes = append(notes, skills.SourceNote{Line: note.Line, Text: note.Text})
	}
	if read.CommandLine == nil { // a nil interface
		return nil, notes
	}
	return read.CommandLine, notes
}
