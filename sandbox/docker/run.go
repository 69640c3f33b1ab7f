package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// errStale is the failure of a container that had ended before it was sent its
// command, which another one can therefore run.
var errStale = errors.New("the container has ended while it waited")

// run runs cmd in b, for which b was made.
func (b *instance) run(ctx context.Context, cmd *sandbox.Command, image *image) (*sandbox.Exit, error) {
	return b.exchange(ctx, cmd, image, shellproto.Line{Drain: b.engine.podman(), Apart: b.piped}, b.verdict)
}

// A verdict returns the end of a command whose shell has ended without its status, or
// why there is none. err is why nothing is known.
type verdict func(ctx context.Context, cmd *sandbox.Command, image *image, err error) (*sandbox.Exit, error)

// exchange runs cmd in the shell of b.
func (b *instance) exchange(ctx context.Context, cmd *sandbox.Command, image *image, line shellproto.Line, verdict verdict) (*sandbox.Exit, error) {
	line.Known = b.engine.programs.has(image.id, cmd)
	o, err := b.shell.Run(ctx, b.surround(cmd), line)
	b.answered, b.ended = o.Missing || o.Ended, o.Ended && err == nil
	if o.Begun {
		b.engine.programs.add(image.id, cmd)
	}
	switch {
	case o.Missing:
		return nil, &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the image %s of the role %q has no program %q", image.ref, image.role, cmd.Argv[0]),
			Remedy: fmt.Sprintf("set %s to an image that has it", setting(image.role)),

			Program: cmd.Argv[0],
		}
	case o.Ended && err != nil:
		return nil, b.engine.failed("read the output", err)
	case o.Ended:
		return o.Exit(cmd, b.engine.sandbox())
	case errors.Is(err, shellproto.ErrUnsent):
		return nil, fmt.Errorf("%w: %w", errStale, err)
	case errors.Is(err, shellproto.ErrLate):
		return nil, b.late(ctx, image)
	case errors.Is(err, shellproto.ErrSilent):
		err = errStale
	}
	exit, err := verdict(ctx, cmd, image, err)
	if !o.Begun && cmd.Started != nil && !errors.Is(err, errStale) && !errors.Is(err, shellproto.ErrGarbled) {
		cmd.Started() // it may have begun
	}
	return exit, err
}

// surround returns cmd with the variables of its way out, where b has one.
func (b *instance) surround(cmd *sandbox.Command) *sandbox.Command {
	if b.way == nil {
		return cmd
	}
	connected := *cmd
	connected.Env = slices.Concat(egress.Environ(egress.Address), cmd.Env)
	return &connected
}

// late returns why a command has not begun in time.
func (b *instance) late(ctx context.Context, image *image) error {
	if b.engine.hangs(ctx) {
		return b.engine.failed("begin the command", errHangs)
	}
	return badShell(image, fmt.Errorf("it did not begin within %v", shellproto.BeginTimeout))
}

// verdictTimeout bounds the wait for an engine's word on a container that has ended.
const verdictTimeout = 10 * time.Second

// verdict returns why the shell of a container has ended before its command: it was
// killed, or it is no shell.
func (b *instance) verdict(ctx context.Context, cmd *sandbox.Command, image *image, err error) (*sandbox.Exit, error) {
	if errors.Is(err, shellproto.ErrGarbled) {
		return nil, badShell(image, err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, verdictTimeout)
	defer cancel()
	// As far as an engine can be trusted with the last output of a container. Commands
	// that could do harm by running twice are not repeated.
	stale := errors.Is(err, errStale) && !cmd.Grant.Write && len(cmd.Grant.Hosts) == 0
	code, err := b.wait(ctx)
	if stale && cerrdefs.IsNotFound(err) {
		return nil, errStale // it was removed from outside
	}
	if err != nil {
		return nil, err
	}
	c, err := b.engine.api.ContainerInspect(ctx, b.id)
	if stale && cerrdefs.IsNotFound(err) {
		return nil, errStale
	}
	if err != nil {
		return nil, b.engine.failed("see how the command ended", err)
	}
	switch {
	case c.State != nil && c.State.OOMKilled:
		return &sandbox.Exit{Code: code, Sandbox: b.engine.sandbox()}, cmd.Limits.OutOfMemory()
	case stale && code == 137: // it was killed from outside
		return nil, errStale
	case code > 128:
		return nil, &sandbox.UnavailableError{
			Reason: "the command's container was ended from outside, as happens when the Docker engine stops",
			Remedy: "try again",
			Err:    fmt.Errorf("container %s was killed", b.id),
		}
	case b.engine.ownKernel() && code != 0:
		// It has ended with all that ran on it, as gVisor does at a limit.
		return &sandbox.Exit{Code: code, Sandbox: b.engine.sandbox()}, nil
	case stale && b.engine.programs.has(image.id, cmd):
		return nil, errStale // the image's shell works, but its input ended: it was stopped from outside
	}
	return nil, badShell(image, fmt.Errorf("it ended by itself, with code %d", code))
}

func badShell(image *image, err error) error {
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the image %s of the role %q has no /bin/sh that works: %v", image.ref, image.role, err),
		Remedy: fmt.Sprintf("set %s to an image whose /bin/sh is a POSIX shell", setting(image.role)),
		Err:    err,
	}
}
