package docker

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// drainTimeout is how long the engine may take, after a command's end, to
	// pass on the next bit of its output.
	drainTimeout = 10 * time.Second
	// writeTimeout is how long the reader of a command's output is waited for
	// when the command is given up.
	writeTimeout = 500 * time.Millisecond
)

// streams are the standard streams of one container.
type streams struct {
	conn     types.HijackedResponse
	started  chan struct{} // closed by pass and by close
	pass     func()        // lets output through
	draining atomic.Bool   // the command has ended
	shut     atomic.Bool   // nothing is to be written any more
	copied   chan struct{} // closed by the goroutine that copies the output
	err      error         // of the copying; valid after copied
}

// attach connects to the streams of b. It is done before the start so that no
// output is missed; none is passed on before pass is called.
func (b *box) attach(ctx context.Context, cmd *sandbox.Command) (*streams, error) {
	conn, err := b.hijack(ctx, container.AttachOptions{
		Stream: true,
		Stdin:  cmd.Stdin != nil,
		Stdout: true,
		Stderr: true,
	})
	if err != nil {
		return nil, b.engine.failed("connect to the sandbox", err)
	}
	s := &streams{conn: conn, started: make(chan struct{}), copied: make(chan struct{})}
	s.pass = sync.OnceFunc(func() { close(s.started) })
	go func() {
		defer close(s.copied)
		_, s.err = stdcopy.StdCopy(s.to(cmd.Stdout), s.to(cmd.Stderr), s)
	}()
	if cmd.Stdin != nil {
		// Nobody waits for this: a read of stdin can be ended by nobody but
		// who writes to it. A write ends with the connection.
		go func() {
			_, _ = io.Copy(conn.Conn, cmd.Stdin)
			_ = conn.CloseWrite()
		}()
	}
	return s, nil
}

// hijack is ContainerAttach, which does not heed ctx, made to.
func (b *box) hijack(ctx context.Context, options container.AttachOptions) (types.HijackedResponse, error) {
	type result struct {
		conn types.HijackedResponse
		err  error
	}
	attached := make(chan result, 1)
	go func() {
		conn, err := b.engine.api.ContainerAttach(ctx, b.id, options)
		attached <- result{conn, err}
	}()
	select {
	case r := <-attached:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-attached; r.err == nil {
				r.conn.Close()
			}
		}()
		return types.HijackedResponse{}, context.Cause(ctx)
	}
}

// Read reads what the engine sends, without a limit of time while the command
// runs.
func (s *streams) Read(p []byte) (int, error) {
	if s.draining.Load() {
		_ = s.conn.Conn.SetReadDeadline(time.Now().Add(drainTimeout))
	}
	return s.conn.Reader.Read(p)
}

// to returns a writer to w that never fails: a reader that went away must not
// stop the command.
func (s *streams) to(w io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		<-s.started
		if w != nil && !s.shut.Load() {
			_, _ = w.Write(p)
		}
		return len(p), nil
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// drain waits for the rest of the output of a command that has ended.
func (s *streams) drain(ctx context.Context) error {
	s.draining.Store(true)
	_ = s.conn.Conn.SetReadDeadline(time.Now().Add(drainTimeout))
	select {
	case <-s.copied:
		return s.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends the copying. After it nothing is written, except by a write that
// was under way and that its reader does not take.
func (s *streams) close() {
	s.shut.Store(true)
	s.pass()
	s.conn.Close()
	timer := time.NewTimer(writeTimeout)
	defer timer.Stop()
	select {
	case <-s.copied:
	case <-timer.C:
	}
}
