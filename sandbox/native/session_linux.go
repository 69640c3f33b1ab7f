//go:build amd64 || arm64

package native

import (
	"context"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A nativeSession is a sandbox for several commands. It implements
// [sandbox.Session].
type nativeSession struct {
	pool      *pool
	instance  *instance
	resources *resources
	free      chan struct{} // holds an element while no command runs and it is not closed
	closed    chan struct{} // closed at the beginning of Close

	once    sync.Once
	leave   func() // of the driver's lifetime
	unwatch func() // its memory
}

// openSession makes a sandbox for several commands.
func (p *pool) openSession(ctx context.Context, cmd *sandbox.Command) (*nativeSession, error) {
	g, err := p.newResources(cmd)
	if err != nil {
		return nil, err
	}
	g.recipe = nil // the commands of a session have streams of their own
	if cmd.Warm >= 0 {
		defer p.fill(nil)
	}
	b, trees, err := p.acquireFor(g)
	if err != nil {
		g.gateway.close()
		return nil, err
	}
	b.streams.close()
	stop := context.AfterFunc(ctx, b.kill)
	t := &execution{instance: b, cmd: cmd, gateway: g.gateway, limits: g.limits}
	t.setup = p.host.setupSequence(g.mounts, g.limits, b.group, g.gateway != nil)
	t.setup.sendReport(eventSettled)
	t.err = b.socket.send(t.setup.pack(nil, kindSetup), trees)
	closeAll(trees)
	t.awaitReports()
	if !stop() || !t.settled {
		g.gateway.close()
		_, err := t.result(ctx)
		p.drop(b)
		return nil, err
	}
	k := &nativeSession{pool: p, instance: b, resources: g, free: make(chan struct{}, 1), closed: make(chan struct{}), unwatch: b.watchMemory(g.limits.Memory)}
	k.free <- struct{}{}
	return k, nil
}

// Run implements [sandbox.Session]. Output of a process that outlives its
// command is discarded.
func (k *nativeSession) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
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
	env := k.pool.host.environ(cmd, k.resources.gateway)
	if err := checkCommandLine(cmd, env); err != nil {
		return nil, err
	}
	streams, err := newStdio(k.pool.host.user)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	before := len(k.resources.gateway.connections(0))
	t := &execution{instance: k.instance, cmd: cmd, gateway: k.resources.gateway, streams: streams, limits: k.resources.limits}
	t.job = commandSequence(cmd.Argv, env, streamSlots(cmd, 0), k.pool.host.resourceLimits(t.limits, k.instance.group))
	t.err = k.instance.socket.send(t.job.pack(nil, kindCommand), streams.fds(k.pool.host.null))
	streams.closeTheirs()
	k.awaitReports(ctx, t)
	streams.readAvailable()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	exit, err := t.result(ctx)
	if exit != nil {
		exit.Connections = k.resources.gateway.connections(before)
	}
	return exit, err
}

// awaitReports handles the reports of an execution, and ends all processes but
// the init when ctx is done. The init reads that request next, so it is sent
// after the command, and its sending is over when awaitReports returns.
func (k *nativeSession) awaitReports(ctx context.Context, t *execution) {
	sent := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(sent)
		_ = k.instance.socket.send((&sequence{}).pack(nil, kindKillAll), nil) // fails when all have ended
	})
	t.awaitReports()
	if !stop() {
		<-sent
	}
}

// Close implements [sandbox.Session].
func (k *nativeSession) Close() error {
	k.once.Do(func() {
		defer k.leave()
		close(k.closed)
		k.unwatch()
		k.instance.kill()
		<-k.free // of the command that ran, for ever
		k.instance.wait()
		k.resources.gateway.close()
		k.pool.drop(k.instance)
	})
	return nil
}
