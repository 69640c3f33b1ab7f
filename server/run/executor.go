// Package run is the only way from a call to a sandbox: it checks a request, takes
// the snapshot of the skill's folder, has a [Decider] decide about it, makes the
// command, runs it and has a [Recorder] record it. The MCP server and the command line
// both call skills through it.
//
// Start with [New]; each call is one [Executor.Run].
package run

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// Options configure an [Executor]. The zero value is usable.
type Options struct {
	// Sessions holds the sandboxes that are kept between calls. nil is for executors
	// that open none.
	Sessions *session.Manager
	// Workspaces are the absolute host folders that skills may be granted.
	Workspaces []string
	// Assigned returns the folder in place of all workspaces for the calls of a principal, or
	// ""; nil is none.
	Assigned func(ctx context.Context, who identity.Principal) string
	// NoWorkspace is the reason why there are none; "" is not known.
	NoWorkspace string
	// Barred returns the reason why sandboxes cannot enter a workspace, or ""; nil is none.
	Barred func(workspace string) string
	// Variables supplies the variables that skills may have; nil supplies none.
	Variables Variables
	// Secrets has the values of the secrets that skills may use; nil has none.
	Secrets Secrets
	// Servers make the calls of the MCP servers of plugins; nil makes none.
	Servers Servers
	// Hooks run the hooks of plugins around calls; nil runs none.
	Hooks Hooks
	// Recorder is told of the runs; nil tells nobody.
	Recorder Recorder
	// CheckOutput returns the error that callers report for the output of a run that ended
	// well, for the record; nil finds none.
	CheckOutput func(o *Outcome) error
	// Standing reads the given approvals; nil is none.
	Standing func(ctx context.Context) Standing
	// MaxTimeout bounds the timeouts of skills and calls; 0 is the sandbox's default
	// limit.
	MaxTimeout time.Duration
	// Asking bounds how scripts wait for answers and for skills that they have called;
	// zero fields: elicit.DefaultLimits.
	Asking elicit.Limits
	// InstallDependencies installs the packages that a skill declares before it runs.
	InstallDependencies bool
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.MaxTimeout = cmp.Or(c.MaxTimeout, sandbox.DefaultLimits().Timeout)
	if c.Barred == nil {
		c.Barred = func(string) string { return "" }
	}
	if c.Assigned == nil {
		c.Assigned = func(context.Context, identity.Principal) string { return "" }
	}
	if c.Variables == nil {
		c.Variables = Environ(nil)
	}
	c.Recorder = cmp.Or[Recorder](c.Recorder, discard{})
	if c.CheckOutput == nil {
		c.CheckOutput = func(*Outcome) error { return nil }
	}
	if c.Standing == nil {
		c.Standing = func(context.Context) Standing { return func(*Proposal, func() error) string { return "" } }
	}
	return c
}

// noWorkspace returns a function that says that there is no workspace, what follows, and
// why. The reason names a folder of this machine, which is not for remote principals.
func (o *Options) noWorkspace(principal identity.Principal) func(so string) string {
	return func(so string) string {
		text := "there is no workspace" + so
		if o.NoWorkspace != "" && !principal.Remote {
			text += ": " + o.NoWorkspace
		}
		return text + "; a person can start the server with --workspace DIR"
	}
}

// An Executor calls skills. It may be used concurrently.
type Executor struct {
	runner    *sandbox.Runner
	snapshots *snapshot.Store
	decider   Decider
	records   records
	waits     *elicit.WaitLimiter
	callers   *callerLimiter
	options   Options
	running   running
}

// New returns an executor that runs, with runner, the snapshots of skills that decider
// allows. Options may be nil.
func New(runner *sandbox.Runner, snapshots *snapshot.Store, decider Decider, options *Options) *Executor {
	o := options.withDefaults()
	if o.Sessions == nil {
		o.Sessions = session.New(runner, nil)
	}
	return &Executor{runner: runner, snapshots: snapshots, decider: decider, records: records{o.Recorder, o.CheckOutput}, waits: elicit.NewWaitLimiter(o.Asking), callers: newCallerLimiter(o.Asking), options: o}
}

// Workspaces returns the absolute host folders that the calls of a principal may be granted,
// which are those of its client if it has some.
func (x *Executor) Workspaces(ctx context.Context, who identity.Principal, client []string) []string {
	return x.options.workspaces(ctx, &Call{Principal: who, Workspaces: client})
}

// resolve returns the workspaces that a call may be granted, and the command for which
// its session was opened, or nil without a session. The error is an [*Error].
func (x *Executor) resolve(ctx context.Context, c *Call) (workspaces []string, opened *sandbox.Command, err error) {
	switch {
	case c.Session != "":
		command, err := x.options.Sessions.Command(c.tenant(), c.Session)
		if err != nil {
			return nil, nil, translate("the call", c.Session, err)
		}
		return command.Grant.Workspaces, &command, nil
	}
	return x.options.workspaces(ctx, c), nil, nil
}

// workspaces returns the workspaces that a call without a session may be granted.
func (o *Options) workspaces(ctx context.Context, c *Call) []string {
	if c.Parent != "" {
		return c.Workspaces
	}
	if own := o.Assigned(ctx, c.Principal); own != "" {
		return []string{own}
	}
	if len(c.Workspaces) > 0 {
		return c.Workspaces
	}
	return o.Workspaces
}

// perform takes a job through the pipeline from its snapshot to its record.
func (x *Executor) perform(ctx context.Context, j *job) (*Outcome, error) {
	p, err := x.propose(ctx, j)
	var o *Outcome
	if err == nil {
		o, err = x.admitted(ctx, j, p)
	}
	if refused, _ := errors.AsType[*Error](err); !j.Quiet || refused == nil || refused.Code != ApprovalRequired {
		x.records.record(ctx, p, o, err)
	}
	return o, err
}

// refuse has a call recorded that was refused before there was a decision, and returns its
// error.
func (x *Executor) refuse(ctx context.Context, p *Proposal, c *Call, err error) error {
	p.Way, p.Principal, p.Client, p.Stack, p.Parent = c.Way, c.Principal, c.Client, c.Stack, c.Parent
	_ = conceal(ctx, x, p) // it has an error already
	x.records.record(ctx, p, nil, err)
	return err
}

// conceal keeps the secrets of its skill out of the record of a proposal that is not decided
// about. It returns an error for an argument that holds one.
func conceal(ctx context.Context, x *Executor, p *Proposal) (err error) {
	plan := *p
	plan.DryRun = true
	if p.Skill != nil && len(p.Args) > 0 {
		if plan.Decision, _ = x.decider.Decide(ctx, &plan); plan.Decision != nil {
			_, err = readKept(ctx, x.options.Secrets, &plan)
		}
	}
	p.redact = plan.redact
	return err
}

// admitted runs an approved proposal, if its profile has room.
func (x *Executor) admitted(ctx context.Context, j *job, p *Proposal) (*Outcome, error) {
	leave, err := x.running.enter(p)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := x.records.begin(ctx, p); err != nil {
		return nil, err
	}
	return x.execute(ctx, j, p)
}

// scoped returns an error for a principal whose token lacks a scope. Over HTTP a challenge
// has refused it already; other ways in, such as the page, have no other check.
func scoped(p identity.Principal, scope identity.Scope) error {
	if p.May(scope) {
		return nil
	}
	return &Error{Code: PermissionDenied, Message: "this needs a token with the scope " + string(scope)}
}

// propose takes a job up to the command that may run: snapshot, decision, command,
// approval. With an error, which is an [*Error], it returns the proposal as far as it
// came.
func (x *Executor) propose(ctx context.Context, j *job) (*Proposal, error) {
	p := j.proposal()
	err := prepare(ctx, x, j, p)
	if err == nil {
		err = scoped(p.Principal, identity.ScopeRun)
	}
	if err != nil {
		return p, err
	}
	if err := fits(j, p); err != nil {
		return p, err
	}
	if j.Warn != nil {
		x.warnBarred(j, p.Command.Grant)
	}
	if x.options.InstallDependencies && j.action == ActionSkill {
		argv := p.Command.Argv
		if serverOf(j) != nil { // whose words are references yet
			argv = append(slices.Clone(j.skill.Entry.Interpreter), j.skill.Entry.Script)
		}
		if p.Command.Dependencies, err = required(j.skill, p.Command.Folder, argv); err != nil {
			return p, err
		}
	}
	return p, translate("the call", "", x.decider.Approve(ctx, p))
}

// warnBarred warns of workspaces that the sandbox cannot enter, before a script fails there.
func (x *Executor) warnBarred(j *job, grant sandbox.Grant) {
	for _, workspace := range grant.Workspaces {
		if why := x.options.Barred(workspace); why != "" {
			j.Warn("workspace " + workspace + ": " + why)
		}
	}
}

// prepare makes the snapshot, the decision and the command of a proposal. The error is an
// [*Error].
func prepare(ctx context.Context, x *Executor, j *job, p *Proposal) error {
	snap, err := x.snapshot(ctx, j.skill, j.lease)
	if err != nil {
		return err
	}
	if j.skill != nil {
		p.Digest, p.Folder = snap.Digest, snap.Dir
	}
	d, err := x.decider.Decide(ctx, p)
	if err != nil {
		return translate("the call", "", err)
	}
	p.Decision = d
	if err := askedByHook(j, d); err != nil {
		return err
	}
	if to := serverOf(j); to != nil { // an approval is of the tool as it was listed
		d.Version += " " + to.Definition
	} else if j.skill != nil && j.skill.OfHooks() { // and one of hooks is of all of them
		for _, tool := range j.skill.Owner().Tools {
			d.Version += " " + tool.Name
		}
	}
	if j.kept, err = readKept(ctx, x.options.Secrets, p); err != nil {
		return err
	}
	if err := command(ctx, j, p, d, x.options.Variables, x.options.Secrets); err != nil {
		return translate("the call", "", err)
	}
	p.Command.Folder = snap.Dir
	return nil
}

// OnUpdate has a function called, until stop is called, when a resource of a plugin's server
// has changed; see [Servers].
func (x *Executor) OnUpdate(changed func(owner identity.Key, uri string)) (stop func()) {
	if x.options.Servers == nil {
		return func() {}
	}
	return x.options.Servers.OnUpdate(changed)
}

// proposal returns the proposal of a job, without digest and command.
func (j *job) proposal() *Proposal {
	return &Proposal{
		Action: j.action, Way: j.Way, RunID: j.id, Principal: j.Principal, Skill: j.skill, Args: j.args, Picked: j.picked,
		Workspaces: slices.Clone(j.workspaces), Client: j.Client, Stack: j.Stack, Callers: j.Callers, Parent: j.Parent, Quiet: j.Quiet,
	}
}

// snapshot returns the snapshot of a skill's folder, or of an empty one for nil. It
// stays for the lease.
func (x *Executor) snapshot(ctx context.Context, skill *skills.Skill, lease time.Duration) (*snapshot.Snapshot, error) {
	files, whose, use := fs.FS(&zip.Reader{}), "nothing", snapshot.Use{} // an archive without files
	if skill != nil {
		files, whose, use = skill.Files, "skill "+skill.QualifiedName(), UseOf(skill)
	}
	use.Lease = lease
	snap, err := x.snapshots.Take(ctx, files, use)
	if err != nil {
		return nil, &Error{Code: Unavailable, Message: fmt.Sprintf("the folder of %s cannot be copied to the cache: %v", whose, err), Retryable: true, Err: err}
	}
	return snap, nil
}

// UseOf returns the use of a skill's snapshots, without a lease.
func UseOf(skill *skills.Skill) snapshot.Use {
	return snapshot.Use{Skill: skill.Owner().QualifiedName() + "\x00" + skill.Dir}
}

// Renew makes the snapshot of a skill whose files have changed, for the next call, if
// the skill was called since the last time. It begins to get a sandbox with it ready
// where one was.
func (x *Executor) Renew(ctx context.Context, skill *skills.Skill) {
	_ = x.snapshots.Renew(ctx, skill.Files, UseOf(skill)) // the next call reports an error that stays
	_ = x.runner.Renew(skill.QualifiedName(), func() (string, error) {
		snap, err := x.snapshot(ctx, skill, x.runner.Limits().Timeout)
		if err != nil {
			return "", err
		}
		return snap.Dir, nil
	})
}

// execute runs the command of an approved proposal.
func (x *Executor) execute(ctx context.Context, j *job, p *Proposal) (*Outcome, error) {
	ctx, stop := x.startElicitation(ctx, j, p)
	result, err := x.start(ctx, j, p)
	stop()
	o := newOutcome(j, p, result)
	err = translate(j.subject, j.Session, err)
	if j.action != ActionSkill {
		return o, err
	}
	f := failure{
		job: j, command: p.Command, outcome: o, variables: append(p.Decision.secretVariables(), p.Variables...), installed: x.options.InstallDependencies,
		barred: x.options.Barred, none: x.options.noWorkspace(j.Principal), identify: x.runner.Identify,
	}
	if o != nil {
		f.explain(ctx, err)
	} else if lack, ok := errors.AsType[*sandbox.UnavailableError](err); ok && lack.Err == nil && serverOf(j) != nil { // with a cause, no server has started
		if hint := f.serverLacks(lack.Reason); hint != "" {
			failed, _ := errors.AsType[*Error](err)
			failed.Message += "; " + hint
		}
	}
	return o, err
}

// start runs a command, with its secrets, in a fresh sandbox or in the session of its call.
func (x *Executor) start(ctx context.Context, j *job, p *Proposal) (*sandbox.Result, error) {
	command, err := reveal(ctx, x.options.Secrets, j.kept, p)
	if err != nil {
		return nil, err
	}
	if serverOf(j) != nil {
		result, err := x.runner.RunIn(ctx, x.options.Servers.Call(j.Principal, j.skill), *command)
		return result, redacted(command.Redact, err)
	}
	if j.action == ActionSkill && j.skill.Entry.Hook != nil {
		if err := x.options.Servers.Hook(j.Principal, j.skill, command); err != nil {
			return nil, err
		}
	}
	if j.Session != "" {
		return x.options.Sessions.Run(ctx, j.Session, *command)
	}
	result, err := x.runner.Run(ctx, *command)
	return result, redacted(command.Redact, err)
}

// startElicitation relays the questions and calls of a script that declares some, until
// stop is called. The command has to run with the context that it returns.
func (x *Executor) startElicitation(ctx context.Context, j *job, p *Proposal) (_ context.Context, stop func()) {
	if j.calls == nil {
		return ctx, func() {}
	}
	client := j.Client
	switch {
	case j.Session != "":
		client = elicit.Nobody("nothing can be asked in a kept sandbox")
	case client == nil:
		client = elicit.Nobody("there is nobody to ask")
	}
	ctx, dialogue := elicit.Begin(ctx, p.Command, elicit.Options{
		Skill: p.Command.Skill, Asks: j.skill.Asks, Owner: j.Principal.Key(), Client: client, Limiter: x.waits,
		Call: j.calls(p),
	})
	return ctx, dialogue.End
}

// MayAsk reports whether somebody may be asked about a call of a skill before it runs.
func (x *Executor) MayAsk(p identity.Principal, skill *skills.Skill) bool {
	return x.options.Hooks != nil && x.options.Hooks.Any() || x.decider.MayAsk(p, skill)
}
