//go:build amd64 || arm64

package native

import (
	"context"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A kept is a sandbox for several commands.
type kept struct {
	pool   *pool
	box    *box
	ground *ground       // without trees
	free   chan struct{} // holds an element while no command runs and it is not closed
	closed chan struct{} // closed at the beginning of Close

	once    sync.Once
	leave   func() // of the driver's lifetime
	unwatch func() // its memory
}

// keep makes a sandbox that is kept.
func (p *pool) keep(ctx context.Context, cmd *sandbox.Command) (*kept, error) {
	g, err := p.ground(cmd)
	if err != nil {
		return nil, err
	}
	defer p.refill(cmd.Warm)()
	b, err := p.take(g.limits)
	if err != nil {
		g.close()
		return nil, diagnose(err)
	}
	stop := context.AfterFunc(ctx, b.kill)
	t := &turn{box: b, cmd: cmd, gateway: g.gateway, limits: g.limits, setup: p.host.setupScript(g, b.group)}
	t.setup.tell(isSettled)
	t.err = b.line.send(t.setup.pack(nil, kindSetup), g.trees)
	t.listen()
	if !stop() || !t.settled {
		g.close()
		_, err := t.result(ctx)
		p.drop(b)
		return nil, err
	}
	closeAll(g.trees)
	g.trees = nil
	k := &kept{pool: p, box: b, ground: g, free: make(chan struct{}, 1), closed: make(chan struct{}), unwatch: b.watchMemory(g.limits.Memory)}
	k.free <- struct{}{}
	return k, nil
}

// Run implements [sandbox.Session]. What a process that is left behind writes to
// the command's streams goes nowhere.
func (k *kept) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	select {
	case <-k.free:
		defer func() { k.free <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-k.closed:
		return nil, &sandbox.UnavailableError{Reason: "the sandbox has been closed", Remedy: "open another"}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	env := k.pool.host.environ(cmd, k.ground.gateway)
	if err := checkLine(cmd, env); err != nil {
		return nil, err
	}
	streams, err := openStdio(cmd, k.pool.host.user)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	before := len(k.ground.gateway.connections(0))
	t := &turn{box: k.box, cmd: cmd, gateway: k.ground.gateway, streams: streams, limits: k.ground.limits}
	t.job = jobScript(cmd.Argv, env, 0, k.box.resourceLimits(t.limits))
	t.err = k.box.line.send(t.job.pack(nil, kindJob), streams.fds())
	streams.closeTheirs()
	k.listen(ctx, t)
	streams.leave(cmd)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	exit, err := t.result(ctx)
	if exit != nil {
		exit.Connections = k.ground.gateway.connections(before)
	}
	return exit, err
}

// listen takes the reports of a turn, and ends all processes but the init when
// ctx is done. The init takes that as the next thing it is sent, so it is sent
// after the job, and is no longer under way when listen returns.
func (k *kept) listen(ctx context.Context, t *turn) {
	sent := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(sent)
		_ = k.box.line.send((&script{}).pack(nil, kindEnd), nil) // fails when all have ended
	})
	t.listen()
	if !stop() {
		<-sent
	}
}

// Close implements [sandbox.Session].
func (k *kept) Close() error {
	k.once.Do(func() {
		defer k.leave()
		close(k.closed)
		k.unwatch()
		k.box.kill()
		<-k.free // of the command that ran, for ever
		k.box.wait()
		k.ground.close()
		k.pool.drop(k.box)
	})
	return nil
}
