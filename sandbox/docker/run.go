package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// run runs cmd in b, which has not been started yet.
func (b *box) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	streams, err := b.attach(ctx, cmd)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	ran, err := b.start(ctx)
	if ran && cmd.Started != nil {
		cmd.Started()
	}
	if err != nil {
		return nil, err
	}
	streams.pass()
	code, err := b.wait(ctx)
	if err != nil {
		return nil, err
	}
	if err := streams.drain(ctx); err != nil {
		return nil, b.engine.failed("read the output", err)
	}
	return b.verdict(ctx, cmd, code)
}

// start starts the command, and reports whether it can have run. It can when
// the engine is gone before it answered, so that it must not be run again.
func (b *box) start(ctx context.Context) (ran bool, err error) {
	err = b.engine.api.ContainerStart(ctx, b.id, container.StartOptions{})
	if err == nil {
		return true, nil
	}
	return gone(err) || ctx.Err() != nil, b.engine.failed("start the sandbox", err)
}

// wait returns the command's exit code. The container is not removed by itself,
// so that it can be asked for one however soon the command ended.
func (b *box) wait(ctx context.Context) (int, error) {
	ended, failed := b.engine.api.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
	select { // the client sends to one of them, and waits until it is read
	case end := <-ended:
		if end.Error != nil {
			return 0, b.engine.failed("wait for the command", errors.New(end.Error.Message))
		}
		return int(end.StatusCode), nil
	case err := <-failed:
		return 0, b.engine.failed("wait for the command", err)
	}
}

// verdict says how a command ended that has ended: by itself, by its memory
// limit, or because somebody else ended its container.
func (b *box) verdict(ctx context.Context, cmd *sandbox.Command, code int) (*sandbox.Exit, error) {
	exit := &sandbox.Exit{Code: code, Sandbox: b.engine.sandbox()}
	if code == 0 {
		return exit, nil
	}
	c, err := b.engine.api.ContainerInspect(ctx, b.id)
	if err != nil {
		return nil, b.engine.failed("see how the command ended", err)
	}
	// A command that got over the end of one of its processes is no case for
	// the limit; one that failed for it is, whatever its own code.
	outOfMemory := &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: sandbox.Bytes(cmd.Limits.Memory)}
	if c.State != nil && c.State.OOMKilled {
		return exit, outOfMemory
	}
	switch b.whatEnded(ctx, code, c.State) {
	case eventOOM:
		return exit, outOfMemory
	case eventKill:
		return nil, &sandbox.UnavailableError{
			Reason: "the command's container was ended from outside, as happens when the Docker engine stops",
			Remedy: "try again",
			Err:    fmt.Errorf("container %s was killed", b.id),
		}
	}
	return exit, nil
}
