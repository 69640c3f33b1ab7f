package run

import (
	"context"
	"fmt"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Plan returns the command that a person's call of a skill would run, with every
// declared parameter given: in the place of each value is its name, as "<name>",
// and in that of the run's id "<run>". Nothing is run. Limits other than the
// timeout are left to the sandbox.
//
// The error is the [*Error] with which such a call would be refused. The command
// is there all the same, without a grant where it is the grant that is refused;
// it is nil for a skill that has nothing to run.
func (x *Executor) Plan(skill *skills.Skill) (*sandbox.Command, error) {
	entry := skill.Entry
	if entry == nil {
		return nil, invalid("skill %s has nothing to run", skill.QualifiedName())
	}
	args := map[string]any{}
	for _, p := range entry.Params() {
		args[p.Name] = blank(p.Name)
	}
	for _, name := range entry.Placeholders() {
		args[name] = blank(name)
	}
	command := &sandbox.Command{Skill: skill.QualifiedName(), Role: entry.ImageRole, Warm: entry.Warm}
	grant, refused := x.grant(skill, Request{Person: true, Confirm: func(context.Context, *Proposal) error { return nil }})
	command.Grant = grant
	if refused == nil && skill.Unavailable != "" {
		refused = &Error{Unavailable, fmt.Sprintf("skill %s cannot run: %s", skill.QualifiedName(), skill.Unavailable), false, nil}
	}
	var err error
	if command.Argv, err = planArgv(skill, args); err != nil && refused == nil {
		refused = err
	}
	if command.Limits.Timeout, err = x.timeout(entry.Timeout, 0); err != nil && refused == nil {
		refused = err
	}
	command.Env = x.environment(skill, "", blank("run"), args)
	return command, refused
}

// blank stands for a value that is not known yet.
func blank(name string) string { return "<" + name + ">" }

// planArgv is the command line of blanks. A script whose path depends on
// arguments is not there to be looked into, so what it is passed to is a blank,
// too.
func planArgv(skill *skills.Skill, args map[string]any) ([]string, error) {
	words, err := planWords(skill.Entry, args)
	if err != nil {
		return nil, err
	}
	if len(skill.Entry.Placeholders()) > 0 {
		return argv(skill.Entry.ExpandScript(blank), []string{blank("interpreter")}, words), nil
	}
	name, interpreter, err := script(skill, args)
	return argv(name, interpreter, words), err
}

// planWords is what follows the script. Where that depends on more than the
// names of what is given, it is one blank for all.
func planWords(entry *skills.Entry, args map[string]any) ([]string, error) {
	switch entry.Args.(type) {
	case nil, skills.Flags:
		passed, err := entry.Pass(args)
		return passed.Argv, err
	case skills.Input:
		passed, err := entry.Pass(nil)
		return passed.Argv, err
	}
	return []string{blank("arguments") + "…"}, nil
}
