package transport

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// StdioOptions tune [ServeStdio]. A zero field means its default.
type StdioOptions struct {
	// Logger gets entries for the operator. The default discards them.
	Logger *slog.Logger

	// MaxLine is the longest message read, in bytes without the line end.
	// The default is 4 MiB. A longer line is answered with an error.
	MaxLine int

	// Calls is the number of requests that are handled at once, 64 by default: more
	// than the sandbox runs and queues together, so that a listing gets a slot while
	// every sandbox is busy. Pings and initialize need no slot.
	Calls int

	// Queue is the number of requests that wait for a slot, 256 by default. One more
	// is answered with an error at once.
	Queue int

	// Drain is the time for requests to end after the input has ended, 1 s by
	// default, so that "printf … | server" prints its answers. Negative is none.
	Drain time.Duration

	// Grace is the time for cancelled handlers to return and for their last messages
	// to be read, 1.5 s by default.
	Grace time.Duration
}

func (o *StdioOptions) withDefaults() StdioOptions {
	var c StdioOptions
	if o != nil {
		c = *o
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.MaxLine = cmp.Or(c.MaxLine, 4<<20)
	c.Calls = cmp.Or(c.Calls, 64)
	c.Queue = cmp.Or(c.Queue, 256)
	c.Drain = cmp.Or(c.Drain, time.Second)
	c.Grace = cmp.Or(c.Grace, 1500*time.Millisecond)
	return c
}

// HTTPOptions tune [NewHTTP]. A zero field means its default.
type HTTPOptions struct {
	// Logger gets entries for the operator. The default discards them.
	Logger *slog.Logger

	// Refused is called with a request that is refused because of its sender, and the
	// reason for the log. The default ignores it.
	Refused func(r *http.Request, reason string)

	// MaxBody is the longest message read, in bytes; 4 MiB.
	MaxBody int

	// Calls is the number of requests that are handled at once, 128, and Queue of
	// those that wait for a slot, 1024. One more is answered with status 503.
	Calls, Queue int

	// Streams is the number of streams of notices that are open at once, 1024.
	Streams int

	// Sessions is the number of sessions of legacy clients, 1000. One more ends the
	// session that has been idle longest.
	Sessions int

	// SessionIdle is the time after which the session of a legacy client without a
	// stream or a call ends; 30 minutes.
	SessionIdle time.Duration

	// KeepAlive is the interval of comments on an idle stream, which keep proxies from
	// closing it; 15 s.
	KeepAlive time.Duration

	// Patience is the time in which a client has to send a message, or to read one;
	// 30 s.
	Patience time.Duration

	// Grace is the time for cancelled handlers to return, 2 s.
	Grace time.Duration
}

func (o *HTTPOptions) withDefaults() HTTPOptions {
	var c HTTPOptions
	if o != nil {
		c = *o
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Refused == nil {
		c.Refused = func(*http.Request, string) {}
	}
	c.MaxBody = cmp.Or(c.MaxBody, 4<<20)
	c.Calls = cmp.Or(c.Calls, 128)
	c.Queue = cmp.Or(c.Queue, 1024)
	c.Streams = cmp.Or(c.Streams, 1024)
	c.Sessions = cmp.Or(c.Sessions, 1000)
	c.SessionIdle = cmp.Or(c.SessionIdle, 30*time.Minute)
	c.KeepAlive = cmp.Or(c.KeepAlive, 15*time.Second)
	c.Patience = cmp.Or(c.Patience, 30*time.Second)
	c.Grace = cmp.Or(c.Grace, 2*time.Second)
	return c
}

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

// released is the time for goroutines to end after the output was abandoned.
const released = 100 * time.Millisecond
