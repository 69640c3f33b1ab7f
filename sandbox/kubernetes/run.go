package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// errStale is the failure of a Pod whose command has certainly not begun, so that another
// one can run it.
var errStale = errors.New("the Pod has ended before its command began")

// verdictTimeout bounds the wait for the cluster's word on a Pod that has ended. A kubelet
// takes a second or two.
const verdictTimeout = 10 * time.Second

// run runs cmd in i, for which i was made.
func (i *instance) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	o, cause := i.shell.Run(ctx, cmd, shellproto.Line{Drain: cmd.Stdin != nil})
	i.answered = o.Missing || o.Ended
	if exit, err, settled := i.settle(cmd, o, cause); settled {
		return exit, err
	}
	exit, err := i.verdict(ctx, cmd, o, cause)
	if !o.Begun && cmd.Started != nil && !errors.Is(err, errStale) && !errors.Is(err, shellproto.ErrGarbled) {
		cmd.Started() // it may have begun
	}
	return exit, err
}

// settle returns the end of a command that its shell has told, and whether it has.
func (b *blank) settle(cmd *sandbox.Command, o *shellproto.Outcome, err error) (exit *sandbox.Exit, failure error, settled bool) {
	switch {
	case o.Missing:
		return nil, &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the image %s of the role %q has no program %q", b.spec.image, b.spec.role, cmd.Argv[0]),
			Remedy: fmt.Sprintf("set %s to an image that has it", setting(b.spec.role)),

			Program: cmd.Argv[0],
		}, true
	case o.Ended && err != nil:
		return nil, mayHaveRun("the connection to the command's Pod was lost; it has run, and a part of its output is lost", err), true
	case o.Ended:
		exit, failure = o.Exit(cmd, b.options.sandbox())
		return exit, failure, true
	case errors.Is(err, shellproto.ErrUnsent):
		return nil, fmt.Errorf("%w: %w", errStale, err), true
	case errors.Is(err, shellproto.ErrGarbled):
		return nil, &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the image %s of the role %q has no /bin/sh that works: %v", b.spec.image, b.spec.role, err),
			Remedy: fmt.Sprintf("set %s to an image whose /bin/sh is a POSIX shell", setting(b.spec.role)),
			Err:    err,
		}, true
	}
	return nil, nil, false
}

// mayHaveRun is the failure of a command that nobody repeats unseen.
func mayHaveRun(reason string, err error) error {
	return &sandbox.UnavailableError{Reason: reason, Remedy: "look at what the command may have done before you try again", MayHaveRun: true, Err: err}
}

// verdict returns why the shell of a Pod has ended without a word on its command, as far
// as the cluster says. cause is why nothing is known.
//
// A shell whose connection is lost before it got the whole line ends with
// [shellproto.Unread]. After every other end the command may have run, and is not
// repeated.
func (i *instance) verdict(ctx context.Context, cmd *sandbox.Command, o *shellproto.Outcome, cause error) (*sandbox.Exit, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	i.shell.Close() // ends the input: a shell that waits for the line ends, too
	ctx, cancel := context.WithTimeout(ctx, verdictTimeout)
	defer cancel()
	pod, err := i.pods.await(ctx, i.name, func(pod *corev1.Pod) (bool, error) {
		return over(pod) || ended(pod, runner) != nil, nil
	})
	lost := func(reason string) error {
		return mayHaveRun(reason, fmt.Errorf("pod %s: %w", i.name, errors.Join(cause, err)))
	}
	if err != nil {
		return nil, lost("the connection to the command's Pod was lost; it may have run")
	}
	state := ended(pod, runner)
	if state != nil && !o.Begun && state.ExitCode == shellproto.Unread {
		return nil, fmt.Errorf("%w: %w", errStale, cause)
	}
	if state != nil && state.Reason == "OOMKilled" {
		return &sandbox.Exit{Code: int(state.ExitCode), Sandbox: i.options.sandbox()}, cmd.Limits.OutOfMemory()
	}
	if state != nil && state.ExitCode == 0 {
		return nil, lost("the connection to the command's Pod was lost; it has run, and its output is lost")
	}
	return nil, lost("the command's Pod was ended from outside (" + describe(pod) + "); it may have run")
}

// ended returns the end of a container, and nil where it runs.
func ended(pod *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == container {
			return s.State.Terminated
		}
	}
	return nil
}
