package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
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

// HTTPOptions tune [NewHTTP]. A zero field means its default.
type HTTPOptions struct {
	// Logger gets what the operator must know. The default discards it.
	Logger *slog.Logger

	// Refused is told of a request that is refused for what its sender is, or may
	// not do. The default ignores it.
	Refused func(r *http.Request, reason string)

	// MaxBody is the longest message read, in bytes; 4 MiB.
	MaxBody int

	// Calls is how many requests are handled at once, 128, and Queue how many
	// wait for a place, 1024. One more is answered with status 503.
	Calls, Queue int

	// Streams is how many streams of notices are open at once, 1024.
	Streams int

	// Sessions is how many legacy clients there may be, 1000. Where there are
	// more, the one that has been silent longest goes.
	Sessions int

	// SessionIdle is how long a legacy client may be silent, without a stream or
	// a call, before its session ends; 30 minutes.
	SessionIdle time.Duration

	// Resume is the time a legacy client has, after it lost a call's connection, to
	// come back for the answer; 1 minute.
	Resume time.Duration

	// KeepAlive is how often something is sent on a stream that is silent, so
	// that nobody between takes it for dead; 15 s.
	KeepAlive time.Duration

	// Patience is how long a client may take to send a message or to take one;
	// 30 s.
	Patience time.Duration

	// Grace is how long cancelled handlers have to return, 2 s.
	Grace time.Duration
}

func (o *HTTPOptions) withDefaults() HTTPOptions {
	var c HTTPOptions
	if o != nil {
		c = *o
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Refused == nil {
		c.Refused = func(*http.Request, string) {}
	}
	orDefault(&c.MaxBody, 4<<20)
	orDefault(&c.Calls, 128)
	orDefault(&c.Queue, 1024)
	orDefault(&c.Streams, 1024)
	orDefault(&c.Sessions, 1000)
	orDefault(&c.SessionIdle, 30*time.Minute)
	orDefault(&c.Resume, time.Minute)
	orDefault(&c.KeepAlive, 15*time.Second)
	orDefault(&c.Patience, 30*time.Second)
	orDefault(&c.Grace, 2*time.Second)
	return c
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
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

// released is how long the goroutines that abandoning the output has set free
// get to end.
const released = 100 * time.Millisecond
