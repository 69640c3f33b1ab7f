//go:build amd64 || arm64

package native

import (
	"context"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// label is what a [sandbox.Exit] says ran the command.
	label = "native"
	// killed is the exit code when the kernel ended the whole sandbox.
	killed = 128 + 9
)

// A ground is what a sandbox is made of for a command's grant.
type ground struct {
	limits  sandbox.Limits
	mounts  []mount
	trees   []int    // open, one for each mount
	gateway *gateway // nil without hosts
}

// ground checks what cmd is granted and opens it.
func (p *pool) ground(cmd *sandbox.Command) (*ground, error) {
	g := &ground{limits: cmd.Limits.Or(sandbox.DefaultLimits())}
	var err error
	if g.mounts, err = commandMounts(cmd); err != nil {
		return nil, err
	}
	if g.gateway, err = newGateway(cmd.Grant, p.egress); err != nil {
		return nil, err
	}
	if g.trees, err = p.host.openMounts(g.mounts, p.open); err != nil {
		return nil, diagnose(err)
	}
	return g, nil
}

// close releases what the sandbox has its own of, and ends its gateway.
func (g *ground) close() {
	closeAll(g.trees)
	g.trees = nil
	g.gateway.close()
}

// run runs one command in a sandbox of its own.
func (p *pool) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	g, err := p.ground(cmd)
	if err != nil {
		return nil, err
	}
	defer g.close()
	env := p.host.environ(cmd, g.gateway)
	if err := checkLine(cmd, env); err != nil {
		return nil, err
	}
	streams, err := openStdio(cmd, p.host.user)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	defer p.refill(cmd.Warm)()
	b, err := p.take(g.limits)
	if err != nil {
		return nil, diagnose(err)
	}
	defer p.drop(b)
	defer context.AfterFunc(ctx, b.kill)()
	defer b.watchMemory(g.limits.Memory)()

	t := &turn{box: b, cmd: cmd, gateway: g.gateway, streams: streams, limits: g.limits}
	t.setup = p.host.setupScript(g, b.group)
	t.job = jobScript(cmd.Argv, env, slot(len(g.trees)), b.resourceLimits(g.limits))
	t.err = b.line.send(t.job.pack(t.setup.pack(nil, kindSetup), kindOnce), append(g.trees, streams.fds()...))
	streams.closeTheirs()
	t.listen()
	if !t.exited {
		b.kill()
		b.wait()
	}
	streams.finish()
	g.gateway.close()
	exit, err := t.result(ctx)
	if exit != nil {
		exit.Out, exit.Connections = b.collect(), g.gateway.connections(0)
	}
	return exit, err
}

// environ returns a command's environment.
func (h *host) environ(cmd *sandbox.Command, g *gateway) []string {
	return cmd.Environ(append(g.environ(), "PATH="+h.path)...)
}

// A turn is one command's in a box, and how it ended.
type turn struct {
	box        *box
	cmd        *sandbox.Command
	gateway    *gateway
	streams    *stdio
	limits     sandbox.Limits
	setup, job *script // setup is nil where it was made before

	settled bool // the setup is made
	exited  bool // by itself
	code    int
	failure *failure // why the command never began
	err     error    // why nothing is known
}

// listen takes the init's reports until there is nothing more to come.
func (t *turn) listen() {
	for !t.settled && !t.exited && t.failure == nil {
		r, err := t.box.line.report()
		if err == nil {
			err = t.note(r)
		}
		if err != nil {
			if t.err == nil {
				t.err = err
			}
			return
		}
	}
}

// note takes one report.
func (t *turn) note(r report) error {
	switch r.news {
	case isListening:
		if len(r.fds) == 1 && t.gateway != nil {
			return t.gateway.serve(r.fds[0])
		}
	case isSettled:
		t.settled = true
	case hasStarted:
		if t.cmd.Started != nil {
			t.cmd.Started()
		}
		t.streams.start(t.cmd)
	case hasExited:
		t.exited, t.code = true, r.a
	case isSelf:
		t.failure = &failure{Step: stepSelf, Errno: unix.EPERM}
	case hasFailed:
		failed := t.job
		if kind(r.a) == kindSetup {
			failed = t.setup
		}
		t.failure = failed.failed(r.call, unix.Errno(r.b))
	}
	return nil
}

// result returns what came of the turn.
func (t *turn) result(ctx context.Context) (*sandbox.Exit, error) {
	exit := &sandbox.Exit{Code: t.code, Sandbox: label}
	if !t.exited {
		exit.Code = killed
	}
	switch {
	// A command that got over the end of one of its processes is no case for the
	// limit.
	case exit.Code != 0 && (t.box.exceeded.Load() || t.box.group.ranOutOfMemory()):
		return exit, &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: sandbox.Bytes(t.limits.Memory)}
	case t.exited:
		return exit, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case t.failure != nil:
		return nil, explain(t.failure, t.cmd)
	}
	return nil, &sandbox.UnavailableError{
		Reason: "the sandbox was killed from outside before its command ended",
		Remedy: "try again",
		Err:    t.err,
	}
}
