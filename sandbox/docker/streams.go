package docker

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"
)

const (
	// drainTimeout is how long the engine may take, after a command's end, to
	// pass on the next bit of what its container said.
	drainTimeout = 10 * time.Second
	// writeTimeout is how long the reader of a command's output is waited for
	// when the command is given up.
	writeTimeout = 500 * time.Millisecond
)

// streams are the standard streams of a shell that waits for a line. What it
// says before it has one is read when it has.
type streams struct {
	conn     types.HijackedResponse
	answer   *answer       // of the one command; valid after bound
	bound    chan struct{} // closed by bind, and by close
	draining atomic.Bool   // the command has ended
	shut     atomic.Bool   // nothing is to be written any more
	copied   chan struct{} // closed by the goroutine that reads conn, at its end
	err      error         // why conn could be read no further; valid after copied
	release  func()        // closes bound
}

// open starts the reading of conn. ended, if not nil, is called at its end.
func openStreams(conn types.HijackedResponse, ended func()) *streams {
	s := &streams{conn: conn, bound: make(chan struct{}), copied: make(chan struct{})}
	s.release = sync.OnceFunc(func() { close(s.bound) })
	go func() {
		_, s.err = stdcopy.StdCopy(s.to(func(a *answer) io.Writer { return &a.stdout }), s.to(func(a *answer) io.Writer { return &a.stderr }), s)
		close(s.copied)
		if ended != nil {
			ended()
		}
		<-s.bound
		if s.answer != nil {
			s.answer.close(s.err)
		}
	}()
	return s
}

// over reports whether there is nobody to talk to any more.
func (s *streams) over() bool {
	select {
	case <-s.copied:
		return true
	default:
		return false
	}
}

// failure returns why the reading ended, and nil while it has not.
func (s *streams) failure() error {
	if !s.over() {
		return nil
	}
	return s.err
}

// send sends the one line and all of stdin. What comes back is a's.
func (s *streams) send(line string, stdin io.Reader, a *answer) error {
	s.answer = a
	s.release()
	_ = s.conn.Conn.SetWriteDeadline(time.Now().Add(beginTimeout))
	if _, err := io.WriteString(s.conn.Conn, line); err != nil {
		return err
	}
	_ = s.conn.Conn.SetWriteDeadline(time.Time{})
	if stdin != nil {
		// Nobody waits for this: a read of stdin can be ended by nobody but
		// who writes to it. A write ends with the connection. Nothing is read for
		// a command that has not begun, which another container may run.
		go func() {
			select {
			case <-a.began:
			case <-s.copied:
				return
			}
			_, _ = io.Copy(s.conn.Conn, stdin)
			_ = s.conn.CloseWrite()
		}()
	}
	return nil
}

// Read reads what the engine sends, without a limit of time while the command
// runs.
func (s *streams) Read(p []byte) (int, error) {
	if s.draining.Load() {
		_ = s.conn.Conn.SetReadDeadline(time.Now().Add(drainTimeout))
	}
	return s.conn.Reader.Read(p)
}

// to returns a writer to a stream of the answer, once there is one.
func (s *streams) to(stream func(*answer) io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		<-s.bound
		if s.answer == nil || s.shut.Load() {
			return len(p), nil
		}
		return stream(s.answer).Write(p)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// drain waits for the rest of stderr, when stdout is complete.
func (s *streams) drain(ctx context.Context, a *answer) error {
	select {
	case <-a.quiet: // even if the connection failed after it
		return nil
	default:
	}
	s.draining.Store(true)
	_ = s.conn.Conn.SetReadDeadline(time.Now().Add(drainTimeout))
	select {
	case <-a.quiet:
		return nil
	case <-s.copied:
		return s.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends the reading. After it nothing is written, except by a write that
// was under way and that its reader does not take.
func (s *streams) close() {
	s.shut.Store(true)
	s.release()
	s.conn.Close()
	if s.answer != nil {
		s.answer.pass()
		_ = s.answer.tail.Close()
	}
	timer := time.NewTimer(writeTimeout)
	defer timer.Stop()
	select {
	case <-s.copied:
	case <-timer.C:
	}
}
