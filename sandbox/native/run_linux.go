//go:build amd64 || arm64

package native

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// label is what a [sandbox.Exit] says ran the command.
	label = "native"
	// killed is the exit code when the kernel ended the whole sandbox.
	killed = 128 + 9
)

// run runs one command.
func (h *host) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	limits := cmd.Limits.Or(sandbox.DefaultLimits())
	plan, err := h.plan(cmd, limits)
	if err != nil {
		return nil, err
	}
	defer plan.close()
	group := h.cgroups.create(limits)
	defer group.remove()

	end, err := h.execute(ctx, cmd, plan, group)
	if err != nil {
		return nil, diagnose(err)
	}
	exit := &sandbox.Exit{Code: end.code, Sandbox: label}
	switch {
	// A command that got over the end of one of its processes is no case for the
	// limit.
	case end.code != 0 && group.ranOutOfMemory():
		return exit, &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: sandbox.Bytes(limits.Memory)}
	case end.exited:
		return exit, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case end.failure != nil:
		return nil, explain(end.failure, cmd)
	}
	return nil, &sandbox.UnavailableError{
		Reason: "the sandbox was killed from outside before its command ended",
		Remedy: "try again",
		Err:    end.err,
	}
}

// execute starts an init, lets it run the command, and returns when every
// process of the sandbox has ended and all output is copied.
func (h *host) execute(ctx context.Context, cmd *sandbox.Command, plan *plan, group *cgroup) (*ending, error) {
	streams, err := openStdio(cmd, h.user)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	control, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer control.Close()
	init, err := startInit(h, append(streams.theirs[:], theirs), group)
	_ = theirs.Close()
	streams.closeTheirs()
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, init.kill)()

	end := &ending{code: killed}
	if end.err = instruct(control, plan, group); end.err != nil {
		init.kill()
	}
	end.listen(control, func() {
		if cmd.Started != nil {
			cmd.Started()
		}
		streams.start(cmd)
	})
	init.kill()
	<-init.ended
	streams.finish()
	return end, nil
}

// instruct sends the plan. Where the cgroup does not bound memory, a limit on
// each process stands in. An init that has failed already reads no further; why
// it did is in its report.
func instruct(control *os.File, plan *plan, group *cgroup) error {
	if !group.boundsMemory() {
		plan.setup.Data = plan.memory
	}
	if err := send(control, plan.setup, plan.trees); err != nil {
		return err
	}
	_, err := control.Write(plan.job)
	return err
}

// An ending is how an init ended.
type ending struct {
	exited  bool
	code    int      // killed unless exited
	failure *failure // why the command never began
	err     error    // why nothing is known
}

// listen takes the init's reports until there is nothing more to come.
func (e *ending) listen(control io.Reader, started func()) {
	for !e.exited && e.failure == nil {
		var r report
		if err := decode(control, &r); err != nil {
			e.err = errors.Join(e.err, err)
			return
		}
		switch {
		case r.Started:
			started()
		case r.Exited:
			e.exited, e.code = true, int(r.Code)
		default:
			e.failure = &r.Failed
		}
	}
}
