package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

var (
	_ sandbox.SessionDriver = (*Driver)(nil)
	_ sandbox.Warmer        = (*Driver)(nil)
)

// killTimeout bounds the end of a session's processes. A session where it takes longer
// is closed.
const killTimeout = 5 * time.Second

// A session is a container for several commands. Its shell goes on waiting for a line
// that never comes; each command has a shell of its own.
type session struct {
	driver   *Driver
	instance *instance
	image    *image
	limits   sandbox.Limits

	turn  chan struct{}     // has room for one: the command that runs
	life  *sandbox.Lifetime // ended by Close
	close func()            // removes the container, and waits until it is gone
}

// Open implements [sandbox.SessionDriver].
func (d *Driver) Open(ctx context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
	return sandbox.During(ctx, d.owner.life, func(ctx context.Context) (sandbox.Session, error) {
		return d.open(ctx, cmd)
	})
}

func (d *Driver) open(ctx context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
	if len(cmd.Grant.Hosts) > 0 {
		return nil, &sandbox.UnavailableError{Reason: "a kept sandbox has no way to hosts", Remedy: "run what needs them in a sandbox of its own"}
	}
	like := *cmd
	like.Argv = []string{"true"} // a command names a program; this one is never run
	e, image, spec, err := d.prepare(ctx, &like)
	if err != nil {
		return nil, err
	}
	b, err := d.pool.Take(ctx, d.owner.warm(e, spec), cmd.Warm)
	if err != nil {
		return nil, d.lost(e, err)
	}
	s := &session{driver: d, instance: b, image: image, limits: cmd.Limits, turn: make(chan struct{}, 1), life: sandbox.NewLifetime()}
	s.close = sync.OnceFunc(func() { d.owner.dispose(b) })
	d.watchers.Go(func() {
		select {
		case <-d.owner.life.Context().Done():
		case <-s.life.Context().Done():
		case <-b.shell.Done():
		}
		s.close()
	})
	return s, nil
}

// Close implements [sandbox.Session].
func (s *session) Close() error {
	s.life.End()
	s.close()
	return nil
}

// Run implements [sandbox.Session].
func (s *session) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	ctx, leave, err := s.driver.owner.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, leaveBox, err := s.life.Join(ctx)
	if err != nil {
		return nil, &sandbox.UnavailableError{Reason: "the kept sandbox has ended", Remedy: "open another one", Err: err}
	}
	defer leaveBox()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	exit, err := s.run(ctx, cmd)
	if ctx.Err() != nil && exit == nil {
		s.killAll()
		return nil, context.Cause(ctx)
	}
	return exit, s.driver.lost(s.instance.engine, err)
}

// run runs cmd in a shell of its own.
func (s *session) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	if err := shellproto.Check(cmd); err != nil {
		return nil, err
	}
	limited := *cmd
	limited.Limits = s.limits
	id, conn, err := s.instance.exec(ctx, []string{"/bin/sh", "-c", shellproto.Script})
	if err != nil {
		return nil, err
	}
	shell := &instance{engine: s.instance.engine, id: id, shell: shellproto.NewShell(newConn(conn), nil)}
	defer shell.shell.Close()
	exit, err := shell.exchange(ctx, &limited, s.image, shellproto.Line{Session: true}, s.verdict(id))
	if errors.Is(err, errStale) {
		return nil, s.instance.engine.failed("send the command", err)
	}
	return exit, err
}

// verdict says why a shell in the container has ended before its command.
func (s *session) verdict(id string) verdict {
	return func(ctx context.Context, cmd *sandbox.Command, image *image, err error) (*sandbox.Exit, error) {
		if errors.Is(err, shellproto.ErrGarbled) {
			return nil, badShell(image, err)
		}
		shell, err := s.instance.engine.api.ContainerExecInspect(ctx, id)
		if err != nil {
			return nil, s.instance.engine.failed("see how the command ended", err)
		}
		if s.instance.shell.Ended() || shell.Running {
			s.abandon()
			return nil, &sandbox.UnavailableError{
				Reason: "the kept sandbox was ended from outside",
				Remedy: "open another one",
				Err:    fmt.Errorf("container %s has ended", s.instance.id),
			}
		}
		// A process of the sandbox can end the shell, which only harms its own
		// command.
		return &sandbox.Exit{Code: shell.ExitCode, Sandbox: s.instance.engine.sandbox()}, nil
	}
}

// killAll ends every process of the sandbox, except for the one that keeps it.
func (s *session) killAll() {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	_, conn, err := s.instance.exec(ctx, []string{"/bin/sh", "-c", "kill -9 -1"})
	if err != nil {
		s.abandon()
		return
	}
	shell := shellproto.NewShell(newConn(conn), nil)
	defer shell.Close()
	shell.Discard()
	select {
	case <-shell.Done():
	case <-ctx.Done():
		s.abandon()
	}
}

// abandon closes a session in an unknown state, from within a run.
func (s *session) abandon() { s.driver.owner.background.Go(s.close) }
