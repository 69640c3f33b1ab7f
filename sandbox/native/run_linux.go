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

// run runs one command in a sandbox of its own.
func (p *pool) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	limits := cmd.Limits.Or(sandbox.DefaultLimits())
	env := cmd.Environ("PATH=" + p.host.path)
	if err := checkLine(cmd, env); err != nil {
		return nil, err
	}
	mounts, err := commandMounts(cmd)
	if err != nil {
		return nil, err
	}
	trees, err := p.host.openMounts(mounts, p.open)
	if err != nil {
		return nil, diagnose(err)
	}
	defer closeAll(trees)
	streams, err := openStdio(cmd, p.host.user)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	b, err := p.take(limits)
	if err != nil {
		return nil, diagnose(err)
	}
	defer p.drop(b)
	defer context.AfterFunc(ctx, b.kill)()

	b.group.limit(limits)
	t := &turn{box: b, setup: p.host.setupScript(mounts, limits, false)}
	t.job = jobScript(cmd.Argv, env, lookup(env, "PATH"), slot(len(trees)), resourceLimits(limits, b.privateLimit(limits)))
	t.err = b.line.send(t.job.pack(t.setup.pack(nil, kindSetup), kindOnce), append(trees, streams.fds()...))
	streams.closeTheirs()
	t.listen(func() {
		if cmd.Started != nil {
			cmd.Started()
		}
		streams.start(cmd)
	})
	if !t.exited {
		b.kill()
		b.wait()
	}
	streams.finish()
	exit, err := t.result(ctx, cmd, limits)
	if exit != nil {
		exit.Out = b.collect()
	}
	return exit, err
}

// privateLimit is what bounds the memory of each process, where the cgroup does
// not bound that of all.
func (b *box) privateLimit(limits sandbox.Limits) int64 {
	if b.group.boundsMemory() {
		return 0
	}
	return limits.Memory
}

// A turn is one command's in a box, and how it ended.
type turn struct {
	box        *box
	setup, job *script

	exited  bool // by itself
	code    int
	failure *failure // why the command never began
	err     error    // why nothing is known
}

// listen takes the init's reports until there is nothing more to come.
func (t *turn) listen(started func()) {
	for !t.exited && t.failure == nil {
		r, err := t.box.line.report()
		if err != nil {
			if t.err == nil {
				t.err = err
			}
			return
		}
		switch r.news {
		case hasStarted:
			started()
		case hasExited:
			t.exited, t.code = true, r.a
		case isSelf:
			t.failure = &failure{Step: stepSelf, Errno: unix.EPERM}
		case hasFailed:
			t.failure = t.script(kind(r.a)).failed(r.call, unix.Errno(r.b))
		}
	}
}

func (t *turn) script(k kind) *script {
	if k == kindSetup {
		return t.setup
	}
	return t.job
}

// result returns what came of the turn.
func (t *turn) result(ctx context.Context, cmd *sandbox.Command, limits sandbox.Limits) (*sandbox.Exit, error) {
	exit := &sandbox.Exit{Code: t.code, Sandbox: label}
	if !t.exited {
		exit.Code = killed
	}
	switch {
	// A command that got over the end of one of its processes is no case for the
	// limit.
	case exit.Code != 0 && t.box.group.ranOutOfMemory():
		return exit, &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: sandbox.Bytes(limits.Memory)}
	case t.exited:
		return exit, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case t.failure != nil:
		return nil, explain(t.failure, cmd)
	}
	return nil, &sandbox.UnavailableError{
		Reason: "the sandbox was killed from outside before its command ended",
		Remedy: "try again",
		Err:    t.err,
	}
}
