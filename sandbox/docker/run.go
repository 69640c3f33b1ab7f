package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

const (
	// beginTimeout is how long a container's shell may take to begin with a
	// command. A sound one takes milliseconds.
	beginTimeout = 10 * time.Second
	// outTimeout bounds the time that reading /out may take.
	outTimeout = 10 * time.Second
)

// errStale is the failure of a container that had ended before it was sent its
// command, which another one can therefore run.
var errStale = errors.New("the container has ended while it waited")

// run runs cmd in b, for which b was made.
func (b *box) run(ctx context.Context, cmd *sandbox.Command, image *image) (*sandbox.Exit, error) {
	return b.exchange(ctx, cmd, image, b.engine.newLine, b.verdict)
}

// exchange sends the shell of b the line that runs cmd, and takes its answer.
// verdict says what became of a command whose shell has ended without one.
func (b *box) exchange(ctx context.Context, cmd *sandbox.Command, image *image, line lineOf, verdict verdict) (*sandbox.Exit, error) {
	nonce := rand.Text()
	a := newAnswer(nonce, cmd)
	defer context.AfterFunc(ctx, func() {
		b.streams.conn.Close()
		_ = a.tail.Close()
	})()
	known := b.engine.programs.has(image, cmd)
	if err := b.streams.send(line(b.surround(cmd), nonce, known), cmd.Stdin, a); err != nil {
		// A line without its end is never evaluated.
		return nil, fmt.Errorf("%w: %w", errStale, err)
	}
	if began, err := b.begin(ctx, cmd, image, a); err != nil {
		return nil, err
	} else if !began {
		exit, err := verdict(ctx, cmd, image, b.unbegun())
		if cmd.Started != nil && !errors.Is(err, errStale) && !errors.Is(err, errJunk) {
			cmd.Started() // it may have begun
		}
		return exit, err
	}
	b.engine.programs.add(image, cmd)
	status, rest, err := a.status()
	if err != nil {
		return verdict(ctx, cmd, image, err)
	}
	b.answered = true
	exit := &sandbox.Exit{Code: status.code, Sandbox: b.engine.sandbox()}
	exit.Out = b.collect(ctx, cmd, status, rest, a)
	_ = a.tail.Close()
	if err := b.streams.drain(ctx, a); err != nil {
		return nil, b.engine.failed("read the output", err)
	}
	// A command that got over the end of one of its processes is no case for
	// the limit; one that failed for it is, whatever its own code.
	if status.code != 0 && status.oomKills > 0 {
		return exit, outOfMemory(cmd)
	}
	return exit, nil
}

// surround returns cmd with the variables that tell it of its way out.
func (b *box) surround(cmd *sandbox.Command) *sandbox.Command {
	if b.way == nil {
		return cmd
	}
	connected := *cmd
	connected.Env = slices.Concat(egress.Environ(egress.Address), cmd.Env)
	return &connected
}

type (
	lineOf  func(cmd *sandbox.Command, nonce string, known bool) string
	verdict func(ctx context.Context, cmd *sandbox.Command, image *image, err error) (*sandbox.Exit, error)
)

// begin waits until the shell has begun with the command, and reports whether
// it is known to have.
func (b *box) begin(ctx context.Context, cmd *sandbox.Command, image *image, a *answer) (bool, error) {
	timer := time.NewTimer(beginTimeout)
	defer timer.Stop()
	select {
	case <-a.began:
	case <-b.streams.copied:
	case <-ctx.Done():
	case <-timer.C:
		return false, b.late(ctx, image)
	}
	began := true
	select {
	case <-a.began:
	default:
		began = false
	}
	if began && a.missing {
		b.answered = true
		return false, &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the image %s of the role %q has no program %q", image.ref, image.role, cmd.Argv[0]),
			Remedy: fmt.Sprintf("set %s to an image that has it", setting(image.role)),

			Program: cmd.Argv[0],
		}
	}
	if began && cmd.Started != nil {
		cmd.Started()
	}
	a.pass()
	return began, nil
}

// late is why a command has not begun in time.
func (b *box) late(ctx context.Context, image *image) error {
	if b.engine.hangs(ctx) {
		return b.engine.failed("begin the command", errHangs)
	}
	return badShell(image, fmt.Errorf("it did not begin within %v", beginTimeout))
}

// unbegun is why nothing is known of a command's begin. Where the streams were
// not cut, the mark of a command that has begun would have come.
func (b *box) unbegun() error {
	if b.streams.over() && b.streams.failure() == nil {
		return errStale
	}
	return b.streams.failure()
}

// collect reads what the command left in /out. What cannot be read is no
// failure of the command.
func (b *box) collect(ctx context.Context, cmd *sandbox.Command, s status, stream io.Reader, a *answer) sandbox.Files {
	switch s.out {
	case outEmpty:
		return sandbox.Files{}
	case outNoTar:
		return sandbox.Files{Left: []string{"what is in /out: the image has no tar to read it with"}}
	}
	timer := time.AfterFunc(outTimeout, func() { b.streams.conn.Close() })
	files, err := sandbox.CollectTar(io.LimitReader(stream, 2*cmd.Limits.Tmp), ".")
	_ = a.tail.Close() // the rest of it must not keep stderr back
	if err == nil {
		select {
		case <-a.noted:
			files.Left = append(files.Left, unread(a.notes.String())...)
		case <-b.streams.copied:
			err = b.streams.failure()
		case <-ctx.Done():
		}
	}
	switch inTime := timer.Stop(); {
	case ctx.Err() != nil:
	case !inTime:
		files.Left = append(files.Left, fmt.Sprintf("the rest of /out: reading it took longer than %v", outTimeout))
	case err != nil:
		files.Left = append(files.Left, fmt.Sprintf("the rest of /out: %v", err))
	}
	return files
}

// unread returns the files of /out that were not read: a line of find's is
// "/out/a", which is too large, and one of tar's "tar: ./a: socket ignored".
func unread(said string) []string {
	const most = 16
	var left []string
	for line := range strings.Lines(said) {
		if len(left) == most {
			return append(left, "and more")
		}
		name, why, reason := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "tar: "), ": ")
		if !reason {
			why = fmt.Sprintf("at most %s are taken", sandbox.Bytes(sandbox.MaxOutBytes))
		}
		name, large := strings.CutPrefix(name, sandbox.OutDir+"/")
		name, ours := strings.CutPrefix(name, "./")
		if large || ours {
			left = append(left, fmt.Sprintf("%.200q: %.200s", name, strings.Map(printable, why)))
		}
	}
	return left
}

// verdict says why a container's shell has ended before its command: it was
// killed, or it is no shell.
func (b *box) verdict(ctx context.Context, cmd *sandbox.Command, image *image, err error) (*sandbox.Exit, error) {
	if errors.Is(err, errJunk) {
		return nil, badShell(image, err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	// As far as an engine can be trusted with the last that a container said. What
	// may do harm by running twice is not risked.
	stale := errors.Is(err, errStale) && !cmd.Grant.Write && len(cmd.Grant.Hosts) == 0
	code, err := b.wait(ctx)
	if stale && cerrdefs.IsNotFound(err) {
		return nil, errStale // it was removed from outside
	}
	if err != nil {
		return nil, err
	}
	c, err := b.engine.api.ContainerInspect(ctx, b.id)
	if stale && cerrdefs.IsNotFound(err) {
		return nil, errStale
	}
	if err != nil {
		return nil, b.engine.failed("see how the command ended", err)
	}
	switch {
	case c.State != nil && c.State.OOMKilled:
		return &sandbox.Exit{Code: code, Sandbox: b.engine.sandbox()}, outOfMemory(cmd)
	case stale && code == 137: // it was killed from outside
		return nil, errStale
	case code > 128:
		return nil, &sandbox.UnavailableError{
			Reason: "the command's container was ended from outside, as happens when the Docker engine stops",
			Remedy: "try again",
			Err:    fmt.Errorf("container %s was killed", b.id),
		}
	case b.engine.ownKernel() && code != 0:
		// It has ended with all that ran on it, as gVisor does at a limit.
		return &sandbox.Exit{Code: code, Sandbox: b.engine.sandbox()}, nil
	}
	return nil, badShell(image, fmt.Errorf("it ended by itself, with code %d", code))
}

// wait returns the exit code of a container that ends.
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

func outOfMemory(cmd *sandbox.Command) error {
	return &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: sandbox.Bytes(cmd.Limits.Memory)}
}

func badShell(image *image, err error) error {
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the image %s of the role %q has no /bin/sh that works: %v", image.ref, image.role, err),
		Remedy: fmt.Sprintf("set %s to an image whose /bin/sh is a POSIX shell", setting(image.role)),
		Err:    err,
	}
}
