package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
)

// Run calls a skill. The error is an [*Error]; with one, the outcome holds the output
// until then, or is nil if the script never started. A script that fails is no error:
// see the outcome's exit code.
func (x *Executor) Run(ctx context.Context, r Request) (*Outcome, error) {
	refused := Proposal{Action: ActionSkill, RunID: r.runID(), Skill: r.Skill, Args: r.Args, Picked: r.Picked}
	return x.around(ctx, &r.Call, refused, func(ctx context.Context, args map[string]any) (*Outcome, error) {
		r.Args = args
		return x.runSkill(ctx, r)
	})
}

// around makes a call with the hooks around it. refused is the proposal of one that is
// refused.
func (x *Executor) around(ctx context.Context, c *Call, refused Proposal, do func(ctx context.Context, args map[string]any) (*Outcome, error)) (*Outcome, error) {
	if x.options.Hooks == nil || c.Way == WayHook {
		return do(ctx, refused.Args)
	}
	c.RunID, refused.Principal = refused.RunID, c.Principal
	if x.options.Hooks.Any() {
		if err := conceal(ctx, x, &refused); err != nil { // no hook may see it
			return nil, x.refuse(ctx, &refused, c, err)
		}
	}
	hooked := Hooked(ctx, x, c)
	hooked.Skill, hooked.Code, hooked.Args = refused.Skill, refused.Action == ActionCode, refused.Args
	hooked.Do = func(ctx context.Context, args map[string]any, ask string) (*Outcome, error) {
		c.asked = ask
		return do(ctx, args)
	}
	hooked.Refuse = func(ctx context.Context, err error) error { return x.refuse(ctx, &refused, c, err) }
	return x.options.Hooks.Around(ctx, hooked)
}

// Hooked returns a call that runs hooks. One without Do runs those at an event of no call.
func Hooked(ctx context.Context, x *Executor, c *Call) *HookedCall {
	c.Workspaces = x.options.workspaces(ctx, c)
	return &HookedCall{Call: c, Hook: func(ctx context.Context, r Request) (*Outcome, error) {
		r.Call = Call{
			Principal: c.Principal, Way: WayHook, Parent: c.RunID, Group: c.Group, Connection: c.Connection,
			Workspaces: c.Workspaces, Timeout: r.Timeout, Quiet: r.Quiet,
		}
		return x.runSkill(ctx, r)
	}}
}

// runSkill calls a skill, without hooks.
func (x *Executor) runSkill(ctx context.Context, r Request) (*Outcome, error) {
	j, err := x.skillJob(ctx, &r)
	if err != nil {
		return nil, x.refuse(ctx, &Proposal{Action: ActionSkill, RunID: r.runID(), Skill: r.Skill, Args: r.Args, Picked: r.Picked}, &r.Call, err)
	}
	return x.perform(ctx, j)
}

// skillJob checks a request as far as that needs no snapshot. The error is an
// [*Error].
func (x *Executor) skillJob(ctx context.Context, r *Request) (*job, error) {
	workspaces, opened, err := x.resolve(ctx, &r.Call)
	if err != nil {
		return nil, err
	}
	skill := r.Skill
	j := newSkillJob(skill)
	j.Call, j.id, j.workspaces, j.opened, j.picked = &r.Call, r.runID(), workspaces, opened, r.Picked
	if err := cannotRun(skill); err != nil {
		if r.Principal.Kind == identity.Person || r.Picked || r.Skill.ModelInvocable { // they may know ahead of the decision
			return nil, err
		}
		j.invoke = func(sandbox.Grant) (*invocation, error) { return nil, err }
		return j, nil
	}
	if j.args, err = arguments(r, workspaces, x.options.noWorkspace(r.Principal)); err != nil {
		return nil, err
	}
	if j.timeout, err = timeoutOf(skill.Entry.Timeout, r.Timeout, x.options.MaxTimeout); err != nil {
		return nil, err
	}
	j.lease = j.timeout
	if skill.Interactive() {
		j.calls = func(p *Proposal) func(context.Context, []byte) []byte {
			return newCaller(x.Run, x.callers, x.refuse, j, p).call
		}
	}
	if r.asked != "" || x.decider.MayAsk(r.Principal, skill) { // the files must not change while a person thinks
		j.lease += x.options.Asking.Or(elicit.DefaultLimits()).Wait
	}
	j.invoke = func(grant sandbox.Grant) (*invocation, error) { return invoke(r, maps.Clone(j.args), grant) }
	return j, nil
}

// newSkillJob returns the job of a skill without the fields of a call.
func newSkillJob(skill *skills.Skill) *job {
	j := &job{Call: &Call{}, action: ActionSkill, skill: skill, label: skill.QualifiedName(), subject: "the skill", role: roleOf(skill)}
	if skill.Entry != nil {
		j.warm = skill.Entry.Warm
	}
	return j
}

// cannotRun returns an [*Error] if a skill cannot run, whatever is decided.
func cannotRun(skill *skills.Skill) error {
	switch {
	case skill.Unavailable != "":
		return &Error{Code: Unavailable, Message: fmt.Sprintf("skill %s cannot run: %s", skill.QualifiedName(), skill.Unavailable), Retryable: false, Err: nil}
	case skill.Entry == nil:
		return nothingToRun(skill)
	}
	return nil
}

// nothingToRun returns the error for a skill of instructions, with the names of its
// tools.
func nothingToRun(skill *skills.Skill) error {
	text := fmt.Sprintf("skill %s has nothing to run: it gives instructions", skill.QualifiedName())
	var names []string
	for _, tool := range skill.Tools {
		names = append(names, tool.QualifiedName())
	}
	if len(names) > 0 {
		text += "; its tools are " + strings.Join(names, ", ")
	}
	return (&Error{Code: InvalidParam, Message: text}).Told("read the instructions with load_skill")
}

// invoke returns the program of a call whose grant is known.
func invoke(r *Request, args map[string]any, grant sandbox.Grant) (*invocation, error) {
	skill := r.Skill
	resolveFiles(skill, args, r.Folder, grant)
	name, interpreter, err := script(skill, args)
	if err != nil {
		return nil, err
	}
	passed, err := infer.Pass(skill, name, args)
	if err != nil {
		return nil, invalid("%v", err)
	}
	stdin, err := stdinOf(r, passed.Stdin)
	if err != nil {
		return nil, err
	}
	if to := skill.Entry.Server; to != nil { // its references are replaced when it is started
		return &invocation{to.Server.Argv, args, stdin}, nil
	}
	if hook := skill.Entry.Hook; hook != nil {
		return &invocation{hookArgv(hook), args, stdin}, nil
	}
	return &invocation{argv(name, interpreter, passed.Argv), args, stdin}, nil
}

// stdinOf returns the standard input of a call: that of the request, or the
// arguments, if the skill reads them there.
func stdinOf(r *Request, args []byte) (io.Reader, error) {
	name := r.Skill.QualifiedName()
	switch {
	case r.Stdin != nil && args != nil:
		return nil, invalid("skill %s gets its arguments on standard input, so nothing else can be passed there", name)
	case r.Stdin != nil && r.Skill.Interactive():
		return nil, invalid("skill %s gets answers to its questions on standard input, so nothing else can be passed there", name)
	case args != nil:
		return bytes.NewReader(args), nil
	}
	return r.Stdin, nil
}

// Writing returns a skill as one that may write to the workspaces, for a call that the person
// is asked about then.
func Writing(skill *skills.Skill) *skills.Skill {
	if skill.Class != skills.Safe {
		return skill
	}
	asked := *skill
	asked.Class = skills.Mutating
	return &asked
}
