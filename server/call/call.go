// Package call turns a call of a skill into a command of a sandbox: it checks
// the arguments, decides what the skill is granted, builds the command line and
// runs it. The MCP server and the command line both call skills through it.
//
// Start with [New]; each call is one [Executor.Run].
package call

import (
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
	// Logger is told what skills connect to; nil discards it.
	Logger *slog.Logger
	// MaxTimeout bounds what skills and callers ask for; 0 is the sandbox's
	// default limit.
	MaxTimeout time.Duration
}

// An Executor calls skills. It may be used concurrently.
type Executor struct {
	runner    *sandbox.Runner
	snapshots *snapshot.Store
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
	return x
}

// A Request is one call of a skill.
type Request struct {
	Skill *skills.Skill
	// Args are the arguments, as values of encoding/json.
	Args map[string]any
	// Caller is who slots are counted for.
	Caller string
	// Person says that a person makes this call, not a model.
	Person bool
	// Timeout asks for less time than the skill and the configuration allow; 0
	// does not.
	Timeout time.Duration
	// Folder is what relative paths in arguments start from; "" is the first
	// workspace.
	Folder string
	// Stdin is the script's standard input; nil is empty.
	Stdin io.Reader
	// Stdout and Stderr get the script's output as it comes; nil is fine.
	Stdout, Stderr io.Writer
	// Progress is told what the call waits for before it starts; nil is fine.
	Progress func(message string)
}

// An Outcome is what came of a call whose script has started.
type Outcome struct {
	RunID string
	// Digest is that of the skill's folder as it was run.
	Digest string
	*sandbox.Result
}

// Run calls a skill. The error is an [*Error]; with one, the outcome is what
// there was until then, or nil when the script never started. A script that
// failed is no error: see the outcome's exit code.
func (x *Executor) Run(ctx context.Context, r Request) (*Outcome, error) {
	command, err := x.prepare(r)
	if err != nil {
		return nil, err
	}
	snap, err := x.snapshots.Take(ctx, r.Skill.Files)
	if err != nil {
		return nil, &Error{Unavailable, fmt.Sprintf("the folder of skill %s cannot be copied to the cache: %v", r.Skill.QualifiedName(), err), true, err}
	}
	command.Folder = snap.Dir
	result, err := x.runner.Run(ctx, r.Caller, *command)
	var outcome *Outcome
	if result != nil {
		outcome = &Outcome{command.RunID, snap.Digest, result}
		x.logConnections(ctx, command, result.Connections)
	}
	return outcome, translate(err)
}

// prepare does all that can be done without a sandbox.
func (x *Executor) prepare(r Request) (*sandbox.Command, error) {
	skill := r.Skill
	grant, err := x.grant(skill, r.Person)
	if err != nil {
		return nil, err
	}
	if skill.Unavailable != "" {
		return nil, &Error{Unavailable, fmt.Sprintf("skill %s cannot run: %s", skill.QualifiedName(), skill.Unavailable), false, nil}
	}
	if skill.Entry == nil {
		return nil, &Error{InvalidParam, fmt.Sprintf("skill %s has nothing to run; read its instructions with load_skill instead", skill.QualifiedName()), false, nil}
	}
	args, err := x.arguments(skill.Entry, r)
	if err != nil {
		return nil, err
	}
	argv, err := argv(skill, args)
	if err != nil {
		return nil, err
	}
	runID := newRunID()
	return &sandbox.Command{
		RunID:    runID,
		Skill:    skill.QualifiedName(),
		Argv:     argv,
		Env:      x.environment(skill, runID, args),
		Role:     skill.Entry.ImageRole,
		Grant:    grant,
		Limits:   sandbox.Limits{Timeout: x.timeout(skill.Entry.Timeout, r.Timeout)},
		Warm:     skill.Entry.Warm,
		Stdin:    r.Stdin,
		Stdout:   r.Stdout,
		Stderr:   r.Stderr,
		Progress: r.Progress,
	}, nil
}

// timeout is the smallest of what the skill, the call and the configuration
// allow.
func (x *Executor) timeout(asked ...time.Duration) time.Duration {
	smallest := x.options.MaxTimeout
	for _, t := range asked {
		if t > 0 {
			smallest = min(smallest, t)
		}
	}
	return smallest
}

// newRunID returns a new name for a run, in the alphabet of labels.
func newRunID() string { return "run-" + strings.ToLower(rand.Text()[:16]) }

// translate puts what the sandbox says into the codes of a call.
func translate(err error) error {
	var limit *sandbox.LimitError
	var unavailable *sandbox.UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sandbox.ErrBusy):
		return &Error{Busy, "the server is busy: " + err.Error() + "; try again in a moment", true, err}
	case errors.Is(err, sandbox.ErrClosed):
		return &Error{Unavailable, "the server is stopping", true, err}
	case errors.As(err, &limit) && limit.Limit == sandbox.LimitTime:
		return &Error{Timeout, "the skill was " + limit.Error() + "; ask for less at once", false, err}
	case errors.As(err, &limit):
		return &Error{ExecutionError, "the skill was " + limit.Error() + "; ask for less at once", false, err}
	case errors.As(err, &unavailable):
		return &Error{Unavailable, unavailable.Error(), true, err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{ExecutionError, "the call was cancelled", true, err}
	}
	return &Error{InternalError, err.Error(), false, err}
}
