// Package run turns a call of a skill into a command of a sandbox: it checks
// the arguments, decides what the skill is granted, builds the command line and
// runs it. The MCP server and the command line both call skills through it.
//
// Start with [New]; each call is one [Executor.Run].
package run

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// Options configure an [Executor]. The zero value is usable.
type Options struct {
	// Workspaces are the absolute host folders that skills may see.
	Workspaces []string
	// Hosts are what skills may connect to at the most; each gets of them what it
	// declares.
	Hosts []egress.Rule
	// Env are the variables that skills may have, "NAME=value"; each gets those that
	// it names. Neither hosts nor variables go to skills of a workspace, see
	// [skills.Skill.Workspace]: a stranger may have given them any name.
	Env []string
	// Logger records the connections of skills; nil discards them.
	Logger *slog.Logger
	// MaxTimeout bounds what skills and callers ask for; 0 is the sandbox's
	// default limit.
	MaxTimeout time.Duration
	// Asking bounds how scripts wait for answers; zero fields: elicit.DefaultLimits.
	Asking elicit.Limits
	// InstallDependencies has the packages that a skill declares installed before
	// it runs.
	InstallDependencies bool
}

// An Executor calls skills. It may be used concurrently.
type Executor struct {
	runner    *sandbox.Runner
	snapshots *snapshot.Store
	room      *elicit.Room
	options   Options
}

// New returns an executor that runs skills with runner, from their snapshots.
// Options may be nil.
func New(runner *sandbox.Runner, snapshots *snapshot.Store, options *Options) *Executor {
	x := &Executor{runner: runner, snapshots: snapshots}
	if options != nil {
		x.options = *options
	}
	if x.options.MaxTimeout == 0 {
		x.options.MaxTimeout = sandbox.DefaultLimits().Timeout
	}
	if x.options.Logger == nil {
		x.options.Logger = slog.New(slog.DiscardHandler)
	}
	x.room = elicit.NewRoom(x.options.Asking)
	return x
}

// A Request is one call of a skill.
type Request struct {
	Skill *skills.Skill
	// Args are the arguments, as values of encoding/json.
	Args map[string]any
	// Caller is who the call is of, and Tenant the same for the sandbox; of the
	// two, Caller names the ID.
	Caller string
	Tenant sandbox.Tenant
	// Container is a sandbox that the caller has opened; "" is a fresh one.
	Container string
	// Person says that a person makes this call, not a model.
	Person bool
	// Confirm asks that person whether a skill that is not safe may run: nil allows
	// it. Without Confirm no such skill runs.
	Confirm func(context.Context, *Proposal) error
	// Picked says that a person has picked the skill in a client. A client could do
	// so by itself: that opens what a model may not call, and approves of nothing.
	Picked bool
	// Timeout replaces the skill's time limit, up to the configuration's maximum; 0
	// does not.
	Timeout time.Duration
	// Folder is the base of relative paths in arguments; "" is the first
	// workspace.
	Folder string
	// Stdin is the standard input of a script that asks nothing; nil is empty.
	Stdin io.Reader
	// Client answers the questions of a script that asks; nil is nobody.
	Client *elicit.Client
	// Stdout and Stderr get the script's output as it comes; nil is fine.
	Stdout, Stderr io.Writer
	// Progress is told what the call waits for before it starts; nil is fine.
	Progress func(message string)
	// Warn receives doubts that the call is as its caller meant; nil is valid.
	Warn func(message string)
}

// A Proposal is a call that a person is asked about, as it is about to run.
type Proposal struct {
	Skill *skills.Skill
	// Args are the arguments as the script gets them: with defaults, paths absolute.
	Args map[string]any
	// Variables are the names of those that the configuration grants.
	Variables []string
	// Digest is that of the snapshot of the skill's folder that runs.
	Digest string
	*sandbox.Command
}

// An Outcome is what came of a call whose script has started.
type Outcome struct {
	RunID string
	// What was run, for messages: "skill NAME" or "the code".
	What string
	// Digest is that of the skill's folder as it was run.
	Digest string
	// Hint says, for a script that failed, what it may have missed; "" where
	// nothing is known.
	Hint string
	*sandbox.Result
}

// Workspaces are the absolute host folders that skills may see.
func (x *Executor) Workspaces() []string { return x.options.Workspaces }

// Seeing returns the executor for calls that see other workspaces, which are
// absolute host folders.
func (x *Executor) Seeing(workspaces []string) *Executor {
	other := *x
	other.options.Workspaces = workspaces
	return &other
}

// Run calls a skill. The error is an [*Error]; with one, the outcome is what
// there was until then, or nil when the script never started. A script that
// failed is no error: see the outcome's exit code.
func (x *Executor) Run(ctx context.Context, r Request) (*Outcome, error) {
	var opened *sandbox.Command
	if r.Container != "" {
		var err error
		if x, opened, err = x.kept(r.Caller, r.Container); err != nil {
			return nil, err
		}
	}
	command, args, err := x.prepare(r)
	if err != nil {
		return nil, err
	}
	snap, err := x.snapshots.Take(ctx, r.Skill.Files, useOf(r.Skill, command.Limits.Timeout))
	if err != nil {
		return nil, &Error{Unavailable, fmt.Sprintf("the folder of skill %s cannot be copied to the cache: %v", r.Skill.QualifiedName(), err), true, err}
	}
	command.Folder = snap.Dir
	if opened != nil {
		if err := fits(opened, command, r.Skill, r.Container); err != nil {
			return nil, err
		}
	}
	if x.options.InstallDependencies {
		if command.Dependencies, err = required(r.Skill, snap.Dir, command.Argv); err != nil {
			return nil, err
		}
	}
	if r.Skill.Class != skills.Safe {
		proposal := &Proposal{r.Skill, args, variableNames(x.granted(r.Skill)), snap.Digest, command}
		if err := r.Confirm(ctx, proposal); err != nil {
			return nil, &Error{ApprovalRequired, fmt.Sprintf("skill %s did not run: %v", command.Skill, err), false, err}
		}
	}
	ctx, answered := x.converse(ctx, r, command)
	command.Tenant = r.Tenant
	result, err := x.start(ctx, r.Caller, r.Container, command)
	answered()
	o := outcome("skill "+command.Skill, command, snap.Digest, result)
	if o != nil {
		x.logConnections(ctx, command, o.Connections)
	}
	if o != nil && o.Code != 0 && !x.options.InstallDependencies {
		o.Hint = missing(snap.Dir, command.Argv)
	}
	if o != nil && o.Code != 0 && o.Hint == "" {
		o.Hint = lostFile(o, command.Grant)
	}
	if err == nil {
		err = checkOutput(r.Skill, o)
		return o, err
	}
	err = failure("the skill", r.Container, err)
	if late, ok := errors.AsType[*Error](err); ok && late.Code == Timeout && o != nil && len(r.Skill.Asks) > 0 {
		o.Hint = unheard
	}
	return o, err
}

// unheard is what the author of a script that asks may have missed: it waits for
// the answer to a question that is still in a buffer of its own.
const unheard = "where it was about to ask: a question is one line, with a newline at its end, and has to be flushed"

// useOf returns the use of a snapshot for a skill, which may be nil.
func useOf(skill *skills.Skill, lease time.Duration) snapshot.Use {
	if skill == nil {
		return snapshot.Use{Lease: lease}
	}
	return snapshot.Use{Skill: skill.Owner().QualifiedName() + "\x00" + skill.Dir, Lease: lease}
}

func outcome(what string, command *sandbox.Command, digest string, result *sandbox.Result) *Outcome {
	if result == nil {
		return nil
	}
	return &Outcome{RunID: command.RunID, What: what, Digest: digest, Result: result}
}

// nothingToRun says what can be had of a skill of instructions.
func nothingToRun(skill *skills.Skill) string {
	text := fmt.Sprintf("skill %s has nothing to run; read its instructions with load_skill instead", skill.QualifiedName())
	var names []string
	for _, tool := range skill.Tools {
		names = append(names, tool.QualifiedName())
	}
	if len(names) > 0 {
		text += ", or run one of its tools: " + strings.Join(names, ", ")
	}
	return text
}

// prepare does all that can be done without a sandbox. It also returns the
// arguments as the script gets them.
func (x *Executor) prepare(r Request) (*sandbox.Command, map[string]any, error) {
	skill := r.Skill
	if skill.Entry == nil && skill.Unavailable == "" && (r.Person || r.Picked || skill.ModelInvocable) {
		// Whatever its class is: a person cannot run it either.
		return nil, nil, &Error{InvalidParam, nothingToRun(skill), false, nil}
	}
	grant, err := x.grant(skill, r)
	if err != nil {
		return nil, nil, err
	}
	if skill.Unavailable != "" {
		return nil, nil, &Error{Unavailable, fmt.Sprintf("skill %s cannot run: %s", skill.QualifiedName(), skill.Unavailable), false, nil}
	}
	args, err := x.arguments(skill.Entry, r)
	if err != nil {
		return nil, nil, err
	}
	x.files(r, args, grant.Write)
	name, interpreter, err := script(skill, args)
	if err != nil {
		return nil, nil, err
	}
	passed, err := skill.Pass(name, args)
	if err != nil {
		return nil, nil, invalid("%v", err)
	}
	stdin := r.Stdin
	if passed.Stdin != nil {
		if stdin != nil {
			return nil, nil, invalid("skill %s gets its arguments on standard input, so nothing else can be passed there", skill.QualifiedName())
		}
		stdin = bytes.NewReader(passed.Stdin)
	}
	if r.Stdin != nil && len(skill.Asks) > 0 {
		return nil, nil, invalid("skill %s gets answers to its questions on standard input, so nothing else can be passed there", skill.QualifiedName())
	}
	timeout, err := x.timeout(skill.Entry.Timeout, r.Timeout)
	if err != nil {
		return nil, nil, err
	}
	runID := newID("run-")
	return &sandbox.Command{
		RunID:    runID,
		Skill:    skill.QualifiedName(),
		Argv:     argv(name, interpreter, passed.Argv),
		Env:      x.environment(skill, r.Caller, runID, args),
		Role:     skill.Entry.ImageRole,
		Grant:    grant,
		Limits:   sandbox.Limits{Timeout: timeout},
		Warm:     skill.Entry.Warm,
		Stdin:    stdin,
		Stdout:   r.Stdout,
		Stderr:   r.Stderr,
		Progress: r.Progress,
	}, args, nil
}

// newID returns a new name for a run or a sandbox, in the alphabet of labels. It
// cannot be guessed.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:16]) }

// translate puts what the sandbox says of something, such as "the skill", into
// the codes of a call.
func translate(what string, err error) error {
	var limit *sandbox.LimitError
	var unanswered *elicit.WaitError
	var missing *elicit.MissingError
	var many *sandbox.TooManyError
	var unavailable *sandbox.UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sandbox.ErrBusy):
		return &Error{Busy, "the server is busy: " + err.Error() + "; try again in a moment", true, err}
	case errors.Is(err, sandbox.ErrClosed):
		return &Error{Unavailable, "the server is stopping", true, err}
	case errors.As(err, &unanswered):
		return &Error{Timeout, fmt.Sprintf("%s asked a question and was stopped while it waited for the answer: %v; make the call again when the person is there", what, err), true, err}
	case errors.As(err, &missing):
		return &Error{Unavailable, fmt.Sprintf("%s has to ask, and %v; use a client that can", what, err), false, err}
	case errors.As(err, &limit) && limit.Limit == sandbox.LimitTime:
		return &Error{Timeout, what + " was " + limit.Error() + "; ask for less at once", false, err}
	case errors.As(err, &limit):
		return &Error{ExecutionError, what + " was " + limit.Error() + "; ask for less at once", false, err}
	case errors.As(err, &many) && many.Yours:
		return &Error{Busy, err.Error() + "; close one with close_sandbox", true, err}
	case errors.As(err, &many):
		return &Error{Busy, err.Error() + "; run each call in a sandbox of its own, without container_id, or try again later", true, err}
	case errors.As(err, &unavailable):
		return &Error{Unavailable, unavailable.Error(), true, err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{ExecutionError, "the call was cancelled", true, err}
	}
	return &Error{InternalError, err.Error(), false, err}
}
