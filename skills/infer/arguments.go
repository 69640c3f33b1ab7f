package infer

import (
	"fmt"
	"iter"
	"path"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills"
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
		line, notes := m.commandLine(path.Base(skill.Entry.Script))
		skill.Entry.Unread = notes
		if line != nil {
			skill.Entry.Args = parsedCLI(line, m)
			describe(skill, line)
		}
	}
}

// parsedCLI returns the arguments of a command line. A script that reads its standard
// input has a property for it beside them.
func parsedCLI(line commandLine, m module) skills.ParsedCLI {
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
	line commandLine // valid after once
}

// Argv implements [skills.CommandLine].
func (s *sourceCommandLine) Argv(args map[string]any) ([]string, error) {
	s.once.Do(func() {
		if m := (*Sources)(nil).module(s.skill); m != nil {
			s.line, _ = m.commandLine(path.Base(s.skill.Entry.Script))
		}
	})
	if s.line == nil {
		return nil, fmt.Errorf("the script %s is not the one that was read; reload the skills", s.skill.Entry.Script)
	}
	return s.line.Argv(args)
}
