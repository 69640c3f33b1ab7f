package kubernetes

import (
	"context"
	"errors"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// A session is a Pod for several commands. Its shell goes on waiting for a line that never
// comes; each command has a shell of its own.
type session struct {
	driver   *sandbox.Lifetime
	instance *instance
	limits   sandbox.Limits

	turn  chan struct{}     // has room for one: the command that runs
	life  *sandbox.Lifetime // ended by Close
	close func()            // removes the Pod
}

// newSession returns a session in i, which ends with the driver's life. background starts a
// goroutine.
func newSession(i *instance, limits sandbox.Limits, driver *sandbox.Lifetime, background func(func())) *session {
	s := &session{driver: driver, instance: i, limits: limits, turn: make(chan struct{}, 1), life: sandbox.NewLifetime(), close: sync.OnceFunc(i.Discard)}
	background(func() {
		select {
		case <-driver.Context().Done():
		case <-s.life.Context().Done():
		case <-i.shell.Done():
		}
		s.close()
	})
	return s
}

// Close implements [sandbox.Session]. It ends the processes; the Pod is removed in the
// background.
func (s *session) Close() error {
	s.life.End()
	s.instance.end()
	s.close()
	return nil
}

// Run implements [sandbox.Session].
func (s *session) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	ctx, leave, err := s.driver.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, leaveSession, err := s.life.Join(ctx)
	if err != nil {
		return nil, s.ended(err)
	}
	defer leaveSession()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	exit, err := s.run(ctx, cmd)
	if ctx.Err() != nil && exit == nil {
		if !s.instance.cluster.killAll(s.instance.name) {
			s.close()
		}
		return nil, context.Cause(ctx)
	}
	return exit, err
}

func (s *session) ended(err error) error {
	s.close()
	return &sandbox.UnavailableError{Reason: "the kept sandbox has ended", Remedy: "open another one", Err: err}
}

// run runs cmd in a shell of its own.
func (s *session) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	if err := shellproto.Check(cmd); err != nil {
		return nil, err
	}
	limited := *cmd
	limited.Limits = s.limits
	conn, err := s.instance.cluster.exec(ctx, s.instance.name, s.instance.spec.setup+shellproto.Script)
	if err != nil && s.instance.Ended() {
		return nil, s.ended(err)
	}
	if err != nil {
		return nil, s.instance.cluster.unavailable("send the command", err)
	}
	shell := shellproto.NewShell(conn, nil)
	defer shell.Close()
	o, err := shell.Run(ctx, &limited, shellproto.Line{Session: true, Drain: cmd.Stdin != nil})
	exit, failure, settled := s.instance.settle(&limited, o, err)
	switch {
	case settled && errors.Is(failure, errStale):
		return nil, s.instance.cluster.unavailable("send the command", failure)
	case settled:
		return exit, failure
	case s.instance.Ended():
		return nil, s.ended(err)
	}
	if !o.Begun && cmd.Started != nil {
		cmd.Started() // it may have begun
	}
	if exit, ok := errors.AsType[*exitError](err); ok && exit.code >= 0 && o.Begun { // a command can end its own shell
		return &sandbox.Exit{Code: exit.code, Sandbox: s.instance.options.sandbox()}, nil
	}
	return nil, mayHaveRun("the connection to the kept sandbox was lost; the command may have run", err)
}
