package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

var (
	_ sandbox.SessionDriver = (*Driver)(nil)
	_ sandbox.Warmer        = (*Driver)(nil)
)

// killTimeout is how long ending the processes of a kept sandbox may take. One
// where it takes longer is not kept any more.
const killTimeout = 5 * time.Second

// kept is a container that is kept for several commands. Its shell goes on
// waiting for a line that never comes; each command has a shell of its own.
type kept struct {
	driver *Driver
	box    *box
	image  *image
	limits sandbox.Limits

	turn  chan struct{}     // has room for one: the command that runs
	life  *sandbox.Lifetime // ended by Close
	close func()            // removes the container, and waits until it is gone
}

// Open implements [sandbox.SessionDriver].
func (d *Driver) Open(ctx context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
	ctx, leave, err := d.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	k, err := d.open(ctx, cmd)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (d *Driver) open(ctx context.Context, cmd *sandbox.Command) (*kept, error) {
	if len(cmd.Grant.Hosts) > 0 {
		return nil, &sandbox.UnavailableError{Reason: "a kept sandbox has no way to hosts", Remedy: "run what needs them in a sandbox of its own"}
	}
	like := *cmd
	like.Argv = []string{"true"} // a command names a program; this one is never run
	e, image, spec, err := d.prepare(ctx, &like)
	if err != nil {
		return nil, err
	}
	b, err := d.pool.Take(ctx, d.warm(e, spec), cmd.Warm)
	if err != nil {
		return nil, d.lost(e, err)
	}
	k := &kept{driver: d, box: b, image: image, limits: cmd.Limits, turn: make(chan struct{}, 1), life: sandbox.NewLifetime()}
	k.close = sync.OnceFunc(func() { d.dispose(b) })
	d.watchers.Go(func() {
		select {
		case <-d.life.Context().Done():
		case <-k.life.Context().Done():
		case <-b.shell.Done():
		}
		k.close()
	})
	return k, nil
}

// Close implements [sandbox.Session].
func (k *kept) Close() error {
	k.life.End()
	k.close()
	return nil
}

// Run implements [sandbox.Session].
func (k *kept) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	ctx, leave, err := k.driver.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, leaveBox, err := k.life.Join(ctx)
	if err != nil {
		return nil, &sandbox.UnavailableError{Reason: "the kept sandbox has ended", Remedy: "open another one", Err: err}
	}
	defer leaveBox()
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	exit, err := k.run(ctx, cmd)
	if ctx.Err() != nil && exit == nil {
		k.killAll()
		return nil, context.Cause(ctx)
	}
	return exit, k.driver.lost(k.box.engine, err)
}

// run runs cmd in a shell of its own.
func (k *kept) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	if err := shellproto.Check(cmd); err != nil {
		return nil, err
	}
	limited := *cmd
	limited.Limits = k.limits
	id, conn, err := k.box.exec(ctx, []string{"/bin/sh", "-c", shellproto.Script})
	if err != nil {
		return nil, err
	}
	shell := &box{engine: k.box.engine, id: id, shell: shellproto.NewShell(newConn(conn), nil)}
	defer shell.shell.Close()
	exit, err := shell.exchange(ctx, &limited, k.image, shellproto.Line{Session: true}, k.verdict(id))
	if errors.Is(err, errStale) {
		return nil, k.box.engine.failed("send the command", err)
	}
	return exit, err
}

// exec starts a process in the container of b, and returns its id and streams.
func (b *box) exec(ctx context.Context, argv []string) (id string, conn types.HijackedResponse, err error) {
	made, err := b.engine.api.ContainerExecCreate(ctx, b.id, container.ExecOptions{
		User:         user(),
		WorkingDir:   sandbox.SkillDir,
		Cmd:          argv,
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,
	})
	if err != nil {
		return "", conn, b.engine.failed("start a process in the sandbox", err)
	}
	conn, err = hijack(ctx, func() (types.HijackedResponse, error) {
		return b.engine.api.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	})
	if err != nil {
		return "", conn, b.engine.failed("start a process in the sandbox", err)
	}
	return made.ID, conn, nil
}

// verdict says why a shell in the container has ended before its command.
func (k *kept) verdict(id string) verdict {
	return func(ctx context.Context, cmd *sandbox.Command, image *image, err error) (*sandbox.Exit, error) {
		if errors.Is(err, shellproto.ErrGarbled) {
			return nil, badShell(image, err)
		}
		shell, err := k.box.engine.api.ContainerExecInspect(ctx, id)
		if err != nil {
			return nil, k.box.engine.failed("see how the command ended", err)
		}
		if k.box.shell.Ended() || shell.Running {
			k.abandon()
			return nil, &sandbox.UnavailableError{
				Reason: "the kept sandbox was ended from outside",
				Remedy: "open another one",
				Err:    fmt.Errorf("container %s has ended", k.box.id),
			}
		}
		// A process of the sandbox can end the shell, which only harms its own
		// command.
		return &sandbox.Exit{Code: shell.ExitCode, Sandbox: k.box.engine.sandbox()}, nil
	}
}

// killAll ends every process of the sandbox, except for the one that keeps it.
func (k *kept) killAll() {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	_, conn, err := k.box.exec(ctx, []string{"/bin/sh", "-c", "kill -9 -1"})
	if err != nil {
		k.abandon()
		return
	}
	shell := shellproto.NewShell(newConn(conn), nil)
	defer shell.Close()
	shell.Discard()
	select {
	case <-shell.Done():
	case <-ctx.Done():
		k.abandon()
	}
}

// abandon ends a sandbox of which nothing good is known, from within a run.
func (k *kept) abandon() { k.driver.background.Go(k.close) }
