package infer

import (
	"fmt"
	"iter"
	"path"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// Arguments infers the undeclared arguments of a skill's script, and of the scripts
// of its tools, from their sources. It runs nothing. Sources are those of [Find]; nil
// reads all scripts from the skill's folder.
func Arguments(s *skills.Skill, sources *Sources) {
	for skill := range inferred(s) {
		m := sources.module(skill)
		if m == nil {
			continue
		}
		read := m.Read(path.Base(skill.Entry.Script))
		if skill.Entry.Unread = read.Notes; read.CommandLine != nil {
			skill.Entry.Args = parsedCLI(read.CommandLine, m)
			describe(skill, read.CommandLine)
		}
	}
}

// parsedCLI returns the arguments of a command line. A script that reads its standard
// input has a property for it beside them.
func parsedCLI(line *cli.CommandLine, m module) skills.ParsedCLI {
	cli := skills.ParsedCLI{Object: line.Schema(), Files: fileParams(line)}
	if m.ReadsInput() {
		cli.Stdin = skills.AddStdin(cli.Object)
	}
	return cli
}

// Bind gives each inferred command line its script. It is read again at the first
// call: the parsed scripts of a catalog would take most of the memory.
func Bind(s *skills.Skill) {
	for skill := range inferred(s) {
		if cli, ok := skill.Entry.Args.(skills.ParsedCLI); ok {
			cli.CommandLine = &sourceCommandLine{skill: skill}
			skill.Entry.Args = cli
		}
	}
}

// inferred yields the skill and those of its tools whose arguments are inferred.
func inferred(s *skills.Skill) iter.Seq[*skills.Skill] {
	return func(yield func(*skills.Skill) bool) {
		for _, skill := range append([]*skills.Skill{s}, s.Tools...) {
			if skill.Entry != nil && skill.Entry.Inferred && !yield(skill) {
				return
			}
		}
	}
}

// A sourceCommandLine reads the skill's script at the first call.
type sourceCommandLine struct {
	skill *skills.Skill

	once sync.Once
	line *cli.CommandLine // valid after once
}

// Argv implements [skills.CommandLine].
func (s *sourceCommandLine) Argv(args map[string]any) ([]string, error) {
	s.once.Do(func() {
		if m := (*Sources)(nil).module(s.skill); m != nil {
			s.line = m.Read(path.Base(s.skill.Entry.Script)).CommandLine
		}
	})
	if s.line == nil {
		return nil, fmt.Errorf("the script %s is not the one that was read; reload the skills", s.skill.Entry.Script)
	}
	return s.line.Argv(args)
}
