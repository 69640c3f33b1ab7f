package run

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Plan returns the command that a person's call of a skill would run, with every
// declared parameter given: each value is the parameter's name, as "<name>", and the
// run's ID is "<run>". The decision about it has the secrets. Workspaces replace those of the [Options], if there are any.
// Nothing is run. Limits other than the timeout are left to the sandbox.
//
// The error is the [*Error] that would refuse the call. There is a command all the
// same, without a grant if that is refused; it is nil for a skill that has nothing to
// run.
func (x *Executor) Plan(ctx context.Context, skill *skills.Skill, workspaces []string) (*sandbox.Command, *Decision, error) {
	if skill.Entry == nil {
		return nil, nil, invalid("skill %s has nothing to run", skill.QualifiedName())
	}
	j, p := x.planJob(skill, workspaces)
	j.args = blanks(skill.Entry)
	p.Args = j.args
	d, refused := x.decider.Decide(ctx, p)
	if refused != nil {
		d = &Decision{}
	}
	timeout, late := timeoutOf(skill.Entry.Timeout, 0, x.options.MaxTimeout)
	j.timeout = timeout
	words, invalid := planArgv(skill, j.args)
	j.invoke = func(sandbox.Grant) (*invocation, error) { return &invocation{argv: words, args: j.args}, nil }
	failed := command(ctx, j, p, d, x.options.Variables, x.options.Secrets)
	return p.Command, d, cmp.Or(translate("the call", "", refused), cannotRun(skill), invalid, late, translate("the call", "", failed))
}

// Preview returns the decision about a principal's call of a skill. The error is the
// [*Error] that would refuse the call.
func (x *Executor) Preview(ctx context.Context, who identity.Principal, skill *skills.Skill) (*Decision, error) {
	_, p := x.planJob(skill, nil)
	p.Principal = who
	d, err := x.decider.Decide(ctx, p)
	return d, translate("the call", "", err)
}

// Approved returns a function that returns, in a few words, the calls of a skill that given
// approvals of a principal cover; "" is none. It reads the approvals once.
func Approved(ctx context.Context, x *Executor, workspaces []string) func(identity.Principal, *skills.Skill) string {
	find := sync.OnceValue(func() Standing { return x.options.Standing(ctx) })
	return func(who identity.Principal, skill *skills.Skill) string {
		j, p := x.planJob(skill, workspaces)
		j.Principal, p.Principal = who, who
		return find()(p, func() error { return prepare(ctx, x, j, p) })
	}
}

// ApprovedFor is Approved for a list of skills: a person gets the approvals of the clients of
// this machine, and their own last.
func ApprovedFor(ctx context.Context, x *Executor, who identity.Principal, workspaces []string) func(*skills.Skill) string {
	approved, kinds := Approved(ctx, x, workspaces), []identity.Kind{who.Kind}
	if who.Kind == identity.Person {
		kinds = []identity.Kind{identity.Model, identity.Token, identity.Anonymous, identity.Person}
	}
	whose := []string{"", ", for clients with the token", ", for clients without a token", ", for your own calls"}
	return func(skill *skills.Skill) string {
		for i, kind := range kinds {
			caller := who
			caller.Kind = kind
			if words := approved(caller, skill); words != "" {
				return words + whose[i]
			}
		}
		return ""
	}
}

// planJob returns the job of a person's call without arguments, and its proposal.
func (x *Executor) planJob(skill *skills.Skill, workspaces []string) (*job, *Proposal) {
	j := newSkillJob(skill)
	if len(workspaces) == 0 {
		workspaces = x.options.Workspaces
	}
	j.id, j.workspaces, j.Principal = blank("run"), workspaces, identity.Principal{Kind: identity.Person}
	p := j.proposal()
	p.DryRun = true
	return j, p
}

// blank stands for a value that is not known yet.
func blank(name string) string { return "<" + name + ">" }

// blanks returns a blank for each argument of an entry.
func blanks(entry *skills.Entry) map[string]any {
	args := map[string]any{}
	for _, p := range entry.Params() {
		args[p.Name] = blank(p.Name)
	}
	for _, name := range entry.Placeholders() {
		args[name] = blank(name)
	}
	return args
}

// planArgv returns the command line of blanks. A script whose path depends on
// arguments cannot be read, so its interpreter is a blank, too.
func planArgv(skill *skills.Skill, args map[string]any) ([]string, error) {
	if to := skill.Entry.Server; to != nil && to.Server.Code != nil {
		return slices.Insert(slices.Clone(to.Server.Argv), 1, blank("host of skills-mcp")), nil
	} else if to != nil {
		return to.Server.Argv, nil
	}
	if hook := skill.Entry.Hook; hook != nil {
		return hookArgv(hook), nil
	}
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

// planWords returns the words after the script: one blank for all, if they depend on
// more than the names of the arguments.
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
