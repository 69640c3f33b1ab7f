package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// An endpoint has the state that all endpoints of one server share: bounds, requests in
// flight, and the context that ends them.
type endpoint struct {
	edge
	options Options
	intake  intake
	calls   *table
	beside  bool // another endpoint owns intake and calls
	drain   *drain

	ctx  context.Context // of all requests; its end ends them
	stop context.CancelCauseFunc
}

func newEndpoint(b Backend, o Options) *endpoint {
	e := &endpoint{
		edge: newEdge(b, o), options: o, intake: newIntake(o.bounds), // its patience leaves time to read
		calls: newTable(o.bounds.calls, o.bounds.queue, 32*o.bounds.message, o.bounds.streams), drain: newDrain(),
	}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	return e
}

var (
	errShutdown = errors.New("the server is shutting down")
	errReplaced = errors.New("another stream has taken its place")
)

// stream calls serve for a stream of its own, or answers that there are too many. The
// context ends with r, session, e and the credential of the principal, and by cancel.
func (e *endpoint) stream(a *responder, r *http.Request, session context.Context, m message, serve func(ctx context.Context, cancel context.CancelCauseFunc)) {
	ctx := r.Context()
	if ends := principalOf(r).Expires; !ends.IsZero() {
		timed, cancel := context.WithDeadline(ctx, ends)
		defer cancel()
		ctx = timed
	}
	c := newCall(ctx, m, fmt.Sprintf("stream-%d", moderns.Add(1)))
	c.sender = senderOf(r)
	defer c.cancel(nil)
	defer context.AfterFunc(session, func() { c.cancel(context.Cause(session)) })()
	if err := e.calls.attach(c); err != nil {
		a.busy(m, err)
		return
	}
	defer e.calls.detach(c)
	serve(c.ctx, c.cancel)
}

// answer handles a request of p when there is a slot, and answers it. It ends with r, as
// streams cannot be resumed, and with life. key is its key among the requests in flight.
func (e *endpoint) answer(a *responder, r *http.Request, life context.Context, p *peer, m message, key string) {
	if line := e.lists.lookup(m, p); line != nil { // which takes no slot
		if _, ended := e.begin(r.Context(), p, m); ended != nil {
			ended(line, false)
		}
		a.finish(http.StatusOK, line)
		e.lists.recycle(line)
		return
	}
	if !e.drain.enter(m) {
		a.busy(m, errShutdown)
		return
	}
	defer e.drain.leave(m)
	c := newCall(r.Context(), m, key)
	c.sender = senderOf(r)
	defer c.cancel(nil)
	defer context.AfterFunc(life, func() { c.cancel(context.Cause(life)) })()
	defer context.AfterFunc(r.Context(), func() { e.calls.cancel(key, errGone) })() // its id is free at once
	a.last = func(reply []byte) []byte {
		if r.Context().Err() != nil { // nobody reads it
			return reply
		}
		return announced(&e.edge, p, c.message, reply)
	}
	a.during(c.cancel, func() {
		switch reply, err := e.do(c, p, a.send); {
		case err != nil:
			a.busy(m, err)
		case reply == nil:
			a.cancelled()
		default:
			a.finish(statusOf(m, reply), reply)
			e.lists.recycle(reply)
		}
	})
}

// statusOf returns the HTTP status of a reply, of which the modern protocol has some for
// errors.
func statusOf(m message, reply []byte) int {
	if !m.modern {
		return http.StatusOK
	}
	code, failed := errorCode(m.id, reply)
	switch {
	case !failed:
		return http.StatusOK
	case code == mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case code == mcp.INTERNAL_ERROR:
		return http.StatusOK
	}
	return http.StatusBadRequest
}

// do handles a request when there is a slot, until it, its client or the server ends.
// The reply is nil if it was cancelled; the error says why there is no slot. The worker
// leaves the slot before the reply is written: a slow client keeps none.
func (e *endpoint) do(c *call, p *peer, emit func(line []byte)) (reply []byte, err error) {
	over := make(chan []byte, 1)
	c.run = func() {
		reply := e.exchange(c.ctx, p, c.message, func(line []byte) {
			if e.calls.live(c) {
				emit(line)
			}
		})
		e.calls.leave(c)
		over <- reply
	}
	if err := e.calls.admit(c); err != nil {
		return nil, err
	}
	select {
	case reply = <-over:
	case <-c.ctx.Done():
		if !e.calls.withdraw(c) {
			reply = <-over
		} else if err := context.Cause(c.ctx); !errors.Is(err, context.Canceled) { // by its client
			return nil, err
		}
	}
	if !e.calls.finish(c) {
		return nil, nil
	}
	return reply, nil
}

// moderns counts the requests of modern clients of all handlers: one core may serve
// several handlers, and finds sessions by their ids.
var moderns atomic.Int64
