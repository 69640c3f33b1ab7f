package transport

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// A writer writes complete lines to the client, one at a time. It blocks while the
// client does not read; a caller that must not wait uses the outbox.
type writer struct {
	w    io.Writer
	fail context.CancelCauseFunc // called with the first error
	lock chan struct{}           // holds one value while a line is written; a channel, so that who waits can be freed
	quit chan struct{}           // closed by close or abandon, one of which is called once
	err  error                   // of the first write that failed; guarded by lock
}

func newWriter(w io.Writer, fail context.CancelCauseFunc) *writer {
	return &writer{w: w, fail: fail, lock: make(chan struct{}, 1), quit: make(chan struct{})}
}

// write writes line in one Write, unless wanted, which may be nil, returns false.
func (w *writer) write(line []byte, wanted func() bool) {
	w.compose(notice{line: line, wanted: wanted}.lines)
}

// compose writes the lines that lines returns in one Write, unless there are none. It is
// called under the lock, immediately before the Write: a call that it reports as
// cancelled is never followed by its reply.
func (w *writer) compose(lines func() []byte) {
	select {
	case w.lock <- struct{}{}:
	case <-w.quit:
		return
	}
	defer func() { <-w.lock }()
	if w.closed() || w.err != nil {
		return
	}
	all := lines()
	if len(all) == 0 {
		return
	}
	if _, err := w.w.Write(all); err != nil {
		w.err = fmt.Errorf("write: %w", err)
		w.fail(w.err)
	}
}

func (w *writer) closed() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

// close starts no further Write and returns the error of the first that failed.
func (w *writer) close() error {
	close(w.quit)
	select {
	case w.lock <- struct{}{}:
		defer func() { <-w.lock }()
		return w.err
	default: // a read loop that could not be interrupted is just writing
		return nil
	}
}

// abandon ends the writing to a client that does not read: waiting writers return, and
// a pending Write is interrupted if it can be.
func (w *writer) abandon() {
	close(w.quit)
	interruptible(w.w, func(f writeDeadliner) error { return f.SetWriteDeadline(longAgo) })
}

// interruptible interrupts pending calls on stream, by expire or else by Close, and
// reports whether it could. It does not close files: on the standard streams that
// interrupts nothing, and on some systems it blocks.
func interruptible[D any](stream any, expire func(D) error) bool {
	if d, ok := stream.(D); ok && expire(d) == nil {
		return true
	}
	if _, ok := stream.(*os.File); ok {
		return false
	}
	c, ok := stream.(io.Closer)
	return ok && c.Close() == nil
}

type (
	readDeadliner  interface{ SetReadDeadline(time.Time) error }
	writeDeadliner interface{ SetWriteDeadline(time.Time) error }
)
