package transport

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/skillsmcp/skills-mcp/server/replica"
)

// Options tune a transport.
type Options struct {
	// Logger gets entries for the operator. The default discards them.
	Logger *slog.Logger

	// Refused is called with a request over HTTP that is refused because of its sender,
	// and the reason for the log. The default ignores it.
	Refused func(r *http.Request, reason string)

	// Observer is told of requests and sessions; nil tells nobody.
	Observer Observer

	// Replicas are the servers over HTTP behind the same address; nil are none. They share
	// sessions, and each answers the requests about its own tasks and questions.
	Replicas *replica.Set

	bounds bounds // a zero field means that of the transport
}

// bounds keep a transport from holding too much.
type bounds struct {
	message int // bytes of the longest message that is read

	// calls are handled at once, and queue wait for a slot; one more is answered with an
	// error at once. Pings and initialize need no slot.
	calls, queue int

	// drain is the time for requests to end after the input has ended, so that
	// "printf … | server" prints its answers. Negative is none.
	drain time.Duration

	// grace is the time for cancelled handlers to return and for their last messages to
	// be read.
	grace time.Duration

	streams  int // of notices that are open at once
	sessions int // of legacy clients; one more ends the one that has been idle longest

	idle      time.Duration // after which the session of a client without a stream or a call ends
	keepAlive time.Duration // of comments on an idle stream, which keep proxies from closing it
	patience  time.Duration // in which a client has to send a message, or to read one
}

// stdioBounds bound one stream. More calls are handled at once than the sandbox runs
// and queues together, so that a listing gets a slot while every sandbox is busy.
func stdioBounds() bounds {
	return bounds{message: 4 << 20, calls: 64, queue: 256, drain: time.Second, grace: 1500 * time.Millisecond, streams: 64}
}

func httpBounds() bounds {
	return bounds{
		message: 4 << 20, calls: 128, queue: 1024, grace: 2 * time.Second, streams: 1024, sessions: 1000,
		idle: 30 * time.Minute, keepAlive: 15 * time.Second, patience: 30 * time.Second,
	}
}

// withDefaults returns a copy of o with the bounds of a transport; o may be nil.
func (o *Options) withDefaults(usual bounds) Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Refused == nil {
		c.Refused = func(*http.Request, string) {}
	}
	b := c.bounds
	c.bounds = bounds{
		cmp.Or(b.message, usual.message), cmp.Or(b.calls, usual.calls), cmp.Or(b.queue, usual.queue), cmp.Or(b.drain, usual.drain), cmp.Or(b.grace, usual.grace),
		cmp.Or(b.streams, usual.streams), cmp.Or(b.sessions, usual.sessions), cmp.Or(b.idle, usual.idle), cmp.Or(b.keepAlive, usual.keepAlive), cmp.Or(b.patience, usual.patience),
	}
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
	// ErrAbandoned is returned, joined to the reason for ending if there is one, when
	// something outlived the time that it was given: a handler that ignores its context,
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
