// Package stdio serves MCP to one client over a pair of byte streams, usually
// the standard input and output of the process, one JSON message a line.
//
// mcp-go stays the protocol core: it answers what a request means. This
// package is what stands between it and the bytes, in place of mcp-go's own
// StdioServer. It keeps these promises, which that transport does not:
//
//   - what a handler sends while it runs is written before its result, in
//     order, and none of it is lost: a client that reads slowly slows the
//     handler down;
//   - a cancelled request, queued or running, is never answered, and the
//     reading of cancellations and pings never waits for a call;
//   - ids and progress tokens come back as they were sent, however large;
//   - lines, requests in flight and replies not yet taken are bounded;
//   - a panic costs one request, not the server.
//
// Start with [Serve].
package stdio

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Options tune [Serve]. A zero field means its default.
type Options struct {
	// Logger gets what the operator must know. The default discards it.
	Logger *slog.Logger

	// State numbers the states of the server's tools: it differs after each
	// change, and is odd while one is under way. Where it is set, the answer to
	// tools/list is encoded once for each state. It must not block.
	State func() uint64

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

func (o *Options) withDefaults() Options {
	var c Options
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
	// something outlived [Options.Grace]: a handler that ignores its context,
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

// Serve answers MCP on r and w until r ends, ctx is done or w fails. options
// may be nil.
//
// When r ends, the requests read so far have [Options.Drain] to finish; then,
// or at once in the other cases, every request is cancelled and has
// [Options.Grace] to return. Serve returns nil when r has ended, the cause of
// ctx, or the error of r or w. A client that has not taken its last messages
// by the end of the grace counts as an error of w.
//
// If ctx ends first, Serve interrupts the read by r's SetReadDeadline, else by
// its Close. An [os.File] is never closed, so where it knows no deadlines (a
// standard input that is a terminal or a file) one goroutine stays in Read
// until the process ends. A write that blocks beyond the grace is interrupted
// in the same way.
//
// Only protocol messages go to w, each as one line in one Write. A process
// that passes its standard output should ignore SIGPIPE (for example with
// [os/signal.Ignore]), or a client that is gone ends it before Serve can
// cancel what runs.
//
// Handlers of client notifications and the hooks of initialize and ping run in
// the read loop: they must not block.
func Serve(ctx context.Context, core *mcpserver.MCPServer, r io.Reader, w io.Writer, options *Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := newServer(ctx, stop, core, w, options.withDefaults())
	if err := core.RegisterSession(ctx, s.broadcasts); err != nil {
		return fmt.Errorf("register session: %w", err)
	}
	go s.outbox.run()
	in := &input{ended: make(chan struct{})}
	go func() {
		defer close(in.ended)
		in.err = s.read(ctx, r)
	}()

	err := s.wait(ctx, in)
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

// server is one run of Serve.
type server struct {
	edge
	options    Options
	client     *peer    // the legacy client
	broadcasts *session // the client as mcp-go's broadcasts see it
	moderns    atomic.Int64
	calls      *table
	writer     *writer
	outbox     *outbox // its goroutine is started and ended by Serve
}

func newServer(ctx context.Context, stop context.CancelCauseFunc, core *mcpserver.MCPServer, w io.Writer, o Options) *server {
	s := &server{
		edge:    edge{core: core, log: o.Logger, memory: &memory{state: o.State}},
		options: o,
		client:  newPeer("stdio-" + rand.Text()), // unique: one core may serve several streams
		calls:   newTable(o.Calls, o.Queue, 8*o.MaxLine),
		writer:  newWriter(w, stop),
	}
	s.outbox = newOutbox(o.Logger, func(line []byte) { s.writer.write(line, nil) })
	s.broadcasts = &session{s.client, newMailbox(ctx, s.announce)}
	return s
}

// wait returns when the serving is over, with the reason.
func (s *server) wait(ctx context.Context, in *input) error {
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

// shutdown ends what Serve has started, after its context has ended, and
// returns the result of Serve, given the reason for ending.
func (s *server) shutdown(reason error, read <-chan struct{}) error {
	gone := make(chan struct{}) // closed when nothing of this run is left
	go func() {
		defer close(gone)
		<-read
		<-s.calls.idle
		s.core.UnregisterSession(context.Background(), s.client.SessionID())
		s.broadcasts.close()
		s.outbox.close()
	}()
	if within(s.options.Grace, gone) {
		return cmp.Or(reason, s.writer.close())
	}
	s.writer.abandon()
	if within(released, gone) {
		return cmp.Or(reason, errUnread)
	}
	s.core.UnregisterSession(context.Background(), s.client.SessionID())
	s.log.Warn("stopped while requests were still running", "requests", s.calls.count())
	return errors.Join(reason, ErrAbandoned)
}

// within reports whether c is closed within d.
func within(d time.Duration, c <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}
