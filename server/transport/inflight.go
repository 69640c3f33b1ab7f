package transport

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

var (
	errDuplicate = errors.New("a request with this id is already in flight")
	errBusy      = errors.New("too many requests in flight")
)

// call is a request from its admission until it is answered or cancelled.
type call struct {
	message
	key    string
	ctx    context.Context // of the handler; kept here while the call is queued
	cancel context.CancelCauseFunc
	reply  func([]byte)  // takes the reply, nil for none; a nil func writes it to the client
	open   bool          // it was attached
	placed chan struct{} // closed when it has a place; nil where nobody waits for that
}

func newCall(ctx context.Context, m message) *call {
	c := &call{message: m, key: key(m.id)}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c
}

// table knows the requests in flight of one client, by id. It bounds how many
// run and wait, and it is where cancellation happens: mcp-go's own table knows
// no queued request, and its transport answers a request after cancelling it.
//
// Where messages come by a read loop, the calls are run by workers, which the
// caller of admit starts and which stay until the table is closed: decoding JSON
// grows a new goroutine's stack so often that a goroutine for each call costs a
// third more. Where each call has a goroutine already, as over HTTP, that one
// enters, and leaves after it has run the call.
type table struct {
	slots, queue int // calls running, calls waiting
	bytes        int // of the messages of both
	maxStreams   int

	idle chan struct{} // closed after close, when no worker, no call and no stream is left

	mu      sync.Mutex // guards what follows; no other lock is taken under it
	wake    sync.Cond  // signalled by admit for a parked worker, and by close for all
	calls   map[string]*call
	waiting []*call // in order of arrival
	running int     // calls
	held    int     // bytes
	streams int     // calls that stay open beside the slots
	workers int     // at most slots
	parked  int     // workers waiting for wake and not yet signalled
	closed  bool
}

func newTable(slots, queue, bytes, streams int) *table {
	t := &table{
		slots: slots, queue: queue, bytes: bytes, maxStreams: streams,
		idle:  make(chan struct{}),
		calls: map[string]*call{},
	}
	t.wake.L = &t.mu
	return t
}

// admit takes c in. If hire is true the caller must start a worker, which runs
// the calls that next returns.
func (t *table) admit(c *call) (hire bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.take(c); err != nil {
		return false, err
	}
	t.waiting = append(t.waiting, c)
	switch {
	case t.parked > 0:
		t.parked--
		t.wake.Signal()
	case t.workers < t.slots:
		t.workers++
		return true, nil
	}
	return false, nil
}

// take counts c in where there is room for it. The caller holds mu.
func (t *table) take(c *call) error {
	switch {
	case t.calls[c.key] != nil:
		return errDuplicate
	case t.closed, t.running+len(t.waiting) >= t.slots+t.queue, t.held+len(c.raw) > t.bytes:
		return errBusy
	}
	t.calls[c.key] = c
	t.held += len(c.raw)
	return nil
}

// enter takes c in and waits for a place, which the caller must leave. The error
// is one of admit's, or the cause of c's end: then it must not run.
func (t *table) enter(c *call) error {
	t.mu.Lock()
	if err := t.take(c); err != nil {
		t.mu.Unlock()
		return err
	}
	if t.running < t.slots {
		t.running++
		t.mu.Unlock()
		return nil
	}
	c.placed = make(chan struct{})
	t.waiting = append(t.waiting, c)
	t.mu.Unlock()
	select {
	case <-c.placed:
		return nil
	case <-c.ctx.Done():
		return t.giveUp(c)
	}
}

// giveUp takes out c, which has ended while it waited, unless it has a place.
func (t *table) giveUp(c *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-c.placed:
		return nil
	default:
	}
	t.unqueue(c)
	if t.calls[c.key] == c {
		delete(t.calls, c.key)
	}
	t.signalIdle()
	return context.Cause(c.ctx)
}

// leave gives the place of c to the next that waits.
func (t *table) leave(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held -= len(c.raw)
	if len(t.waiting) == 0 {
		t.running--
		t.signalIdle()
		return
	}
	next := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	close(next.placed)
}

// unqueue takes c out of those that wait. The caller holds mu.
func (t *table) unqueue(c *call) {
	if i := slices.Index(t.waiting, c); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.held -= len(c.raw)
	}
}

// next waits for a call to run. The worker passes the call it has run before,
// or nil, and ends when it gets nil.
func (t *table) next(last *call) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last != nil {
		t.running--
		t.held -= len(last.raw)
	}
	for len(t.waiting) == 0 && !t.closed {
		t.parked++
		t.wake.Wait()
	}
	if len(t.waiting) == 0 {
		t.workers--
		t.signalIdle()
		return nil
	}
	c := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	t.running++
	return c
}

// attach takes c in beside the slots, for as long as it stays open. The caller
// must call detach at its end.
func (t *table) attach(c *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.calls[c.key] != nil:
		return errDuplicate
	case t.closed, t.streams >= t.maxStreams:
		return errBusy
	}
	t.calls[c.key] = c
	t.streams++
	c.open = true
	return nil
}

func (t *table) detach(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls[c.key] == c {
		delete(t.calls, c.key)
	}
	t.streams--
	t.signalIdle()
}

// endStreams ends all that were attached. They may still be answered.
func (t *table) endStreams(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.open {
			c.cancel(cause)
		}
	}
}

// cancel ends the call with that id, if there is one. It will not be answered,
// and if it waits it will not start.
func (t *table) cancel(key string, cause error) bool {
	t.mu.Lock()
	c := t.calls[key]
	if c != nil {
		delete(t.calls, key)
		t.unqueue(c)
	}
	t.mu.Unlock()
	if c == nil {
		return false
	}
	c.cancel(cause)
	return true
}

// has reports whether a request with that id is in flight.
func (t *table) has(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[key] != nil
}

// live reports whether messages about c may still be written.
func (t *table) live(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[c.key] == c
}

// finish frees the id of c for the client, and reports whether c may be
// answered. Past it a cancellation comes too late.
func (t *table) finish(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls[c.key] != c {
		return false
	}
	delete(t.calls, c.key)
	return true
}

// close admits nothing more. What waits still runs.
func (t *table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	t.wake.Broadcast()
	t.signalIdle()
}

func (t *table) signalIdle() {
	if t.closed && t.workers+t.running+len(t.waiting)+t.streams == 0 {
		close(t.idle)
	}
}

// count returns how many calls run.
func (t *table) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

func refused(m message, err error) *rpcError {
	f := &rpcError{id: m.id, code: mcp.INTERNAL_ERROR, message: err.Error()}
	if err == errDuplicate {
		f.code = mcp.INVALID_REQUEST
	}
	return f
}
