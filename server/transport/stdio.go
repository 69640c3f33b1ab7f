package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"
)

// StdioOptions tune [ServeStdio]. A zero field means its default.
type StdioOptions struct {
	// Logger gets what the operator must know. The default discards it.
	Logger *slog.Logger

	// MaxLine is the longest message read, in bytes without the line end.
	// The default is 4 MiB. A longer line is answered with an error.
	MaxLine int

	// Calls is how many requests are handled at once, 64 by default: more than
	// the sandbox runs and queues together, so that a listing finds a place
	// while every sandbox is taken. Pings and initialize need no place.
	Calls int

	// Queue is how many requests wait for a place, 256 by default. One more is
	// answered with an error at once.
	Queue int

	// Drain is how long requests may go on after the input has ended, 1 s by
	// default, so that "printf … | server" prints its answers. Negative means
	// not at all.
	Drain time.Duration

	// Grace is how long cancelled handlers have to return and their last
	// messages to be taken, 1.5 s by default.
	Grace time.Duration
}

func (o *StdioOptions) withDefaults() StdioOptions {
	var c StdioOptions
	if o != nil {
		c = *o
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	orDefault(&c.MaxLine, 4<<20)
	orDefault(&c.Calls, 64)
	orDefault(&c.Queue, 256)
	orDefault(&c.Drain, time.Second)
	orDefault(&c.Grace, 1500*time.Millisecond)
	return c
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

var (
	// ErrAbandoned is returned, joined to the reason for ending, when
	// something outlived [StdioOptions.Grace]: a handler that ignores its context,
	// or a write that nothing can interrupt. Any other return means that every
	// handler has returned.
	ErrAbandoned = errors.New("gave up waiting for running requests")

	errInputEnded = errors.New("the client closed its end")
	errUnread     = errors.New("write: the client did not take its last messages")

	// longAgo is a deadline that has passed.
	longAgo = time.Unix(1, 0)
)

// CancelledError is the cause ([context.Cause]) in the context of a request
// that the client cancelled.
type CancelledError struct {
	Reason string // as the client gave it; may be empty
}

func (e *CancelledError) Error() string {
	if e.Reason == "" {
		return "cancelled by the client"
	}
	return "cancelled by the client: " + e.Reason
}

// Unwrap returns [context.Canceled].
func (e *CancelledError) Unwrap() error { return context.Canceled }

// released is how long the goroutines that abandoning the output has set free
// get to end.
const released = 100 * time.Millisecond

// ServeStdio answers MCP on r and w until r ends, ctx is done or w fails. The client
// acts for the principal of ctx. options may be nil.
//
// When r ends, the requests read so far have [StdioOptions.Drain] to finish; then,
// or at once in the other cases, every request is cancelled and has
// [StdioOptions.Grace] to return. It returns nil when r has ended, the cause of
// ctx, or the error of r or w. A client that has not taken its last messages
// by the end of the grace counts as an error of w.
//
// If ctx ends first, it interrupts the read by r's SetReadDeadline, else by
// its Close. An [os.File] is never closed, so where it knows no deadlines (a
// standard input that is a terminal or a file) one goroutine stays in Read
// until the process ends. A write that blocks beyond the grace is interrupted
// in the same way.
//
// Only protocol messages go to w, each as one line in one Write. A process
// that passes its standard output should ignore SIGPIPE (for example with
// [os/signal.Ignore]), or a client that is gone ends it before the server
// can cancel what runs.
//
// Handlers of client notifications and the hooks of initialize and ping run in
// the read loop: they must not block.
func ServeStdio(ctx context.Context, b Backend, r io.Reader, w io.Writer, options *StdioOptions) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	o := options.withDefaults()
	s, err := newStream(ctx, stop, b, w, "stdio", o)
	if err != nil {
		return err
	}
	in := &input{ended: make(chan struct{})}
	go func() {
		defer close(in.ended)
		in.err = s.read(ctx, r, o.MaxLine)
	}()

	err = s.wait(ctx, in)
	stop(errInputEnded)
	return s.shutdown(err, in.interrupt(r))
}

// input is the state of the read loop.
type input struct {
	ended chan struct{} // closed by the read loop
	err   error         // set before that
}

// interrupt makes the read loop end, if there is a way to, and returns a
// channel that is closed when it has ended or cannot be made to.
func (in *input) interrupt(r io.Reader) <-chan struct{} {
	select {
	case <-in.ended:
		return in.ended // r is the caller's again, and may be in use
	default:
	}
	if interruptible(r, func(f readDeadliner) error { return f.SetReadDeadline(longAgo) }) {
		return in.ended
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

type (
	readDeadliner  interface{ SetReadDeadline(time.Time) error }
	writeDeadliner interface{ SetWriteDeadline(time.Time) error }
)

// wait returns when the serving is over, with the reason.
func (s *stream) wait(ctx context.Context, in *input) error {
	defer s.calls.close()
	select {
	case <-in.ended:
		if in.err != nil {
			return in.err
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.calls.close()
	s.calls.endStreams(errInputEnded)
	if s.options.Drain < 0 {
		return nil
	}
	drained := time.NewTimer(s.options.Drain)
	defer drained.Stop()
	select {
	case <-s.calls.idle:
	case <-drained.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}
