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
	errShare     = errors.New("BUSY: you have too many requests in flight; wait until some of them have ended")
)

// A call is a request, from its admission until it is answered or cancelled.
type call struct {
	message
	key    string
	ctx    context.Context // of the handler; kept here while the call is queued
	cancel context.CancelCauseFunc
	run    func() // handles it in a worker, and leaves the table; nil for a stream
	sender string // the principal with a name of its own, which may have its share of the table; "" may have all

	started bool // a worker has it; guarded by the table's mutex
}

func newCall(ctx context.Context, m message, key string) *call {
	c := &call{message: m, key: key}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c
}

// A table has the requests in flight, by id. It bounds those that run and those that
// wait, and cancels them: mcp-go's own table has no queued requests, and its transport
// answers a request after cancelling it.
//
// Workers run the calls until the table is closed: decoding JSON grows a new
// goroutine's stack so often that a goroutine for each call costs a third more. Where
// the messages come from a stream, workers also read them, one at a time: see lead.
//
// Senders with names take turns: the slot goes to the call whose sender has the fewest, and
// none has more than its share of the slots, the queue and the streams, so that the others
// wait for no call of a greedy one.
type table struct {
	slots, queue int // calls running, calls waiting
	bytes        int // of the messages of both
	maxStreams   int

	idle chan struct{} // closed after close, when no worker, no call and no stream is left

	mu      sync.Mutex // guards what follows; no other lock is taken under it
	wake    sync.Cond  // signalled by admit for a parked worker, and by close for all
	calls   map[string]*call
	waiting []*call         // in order of arrival
	running int             // calls
	held    int             // bytes
	streams int             // calls that stay open beside the slots
	uses    map[string]*use // by sender, while it has any
	workers int             // without the one that reads; at most slots, but for a moment
	parked  int             // workers waiting for wake and not yet signalled
	closed  bool

	read   func() *call // of lead; nil without
	unread bool         // nobody reads: the next worker has to
}

func newTable(slots, queue, bytes, streams int) *table {
	t := &table{
		slots: slots, queue: queue, bytes: bytes, maxStreams: streams,
		idle:  make(chan struct{}),
		calls: map[string]*call{}, uses: map[string]*use{},
	}
	t.wake.L = &t.mu
	return t
}

// admit queues c for a worker, or returns an error if the table is full.
func (t *table) admit(c *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.add(c); err != nil {
		return err
	}
	t.enqueue(c)
	return nil
}

// admitHere admits c as admit does. If here is true, c has a slot, and the caller, who
// is in the function of lead, returns it from there.
func (t *table) admitHere(c *call) (here bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.add(c); err != nil {
		return false, err
	}
	if len(t.waiting) > 0 || t.running >= t.slots {
		t.enqueue(c)
		return false, nil
	}
	t.starts(c)
	t.workers++
	t.unread = true
	t.wakeWorker()
	return true, nil
}

// add enters c by its key, or returns an error if the table is full. The caller holds
// mu.
func (t *table) add(c *call) error {
	switch {
	case t.calls[c.key] != nil:
		return errDuplicate
	case t.closed, t.running+len(t.waiting) >= t.slots+t.queue, t.held+len(c.raw) > t.bytes:
		return errBusy
	}
	u := t.use(c)
	if c.sender != "" && (u.running+u.waiting >= share(t.slots)+share(t.queue) || u.held+len(c.raw) > share(t.bytes)) {
		t.tidy(c)
		return errShare
	}
	t.calls[c.key] = c
	t.held += len(c.raw)
	u.held += len(c.raw)
	return nil
}

// A use counts the calls, bytes and streams of one sender in the table.
type use struct {
	running, waiting, held, streams int
}

// share returns what one sender may have of the slots, the queue, the bytes or the streams.
func share(all int) int { return max(1, all/4) }

// use returns what the sender of c has. The caller holds mu, and calls tidy after it has
// taken something away.
func (t *table) use(c *call) *use {
	u := t.uses[c.sender]
	if u == nil {
		u = &use{}
		t.uses[c.sender] = u
	}
	return u
}

// tidy forgets a sender that has nothing left. The caller holds mu.
func (t *table) tidy(c *call) {
	if u := t.uses[c.sender]; u != nil && *u == (use{}) {
		delete(t.uses, c.sender)
	}
}

// first returns the index of the call that gets the next slot: the first of those whose
// sender has the fewest; -1 is none. The caller holds mu.
func (t *table) first() int {
	found, fewest := -1, 0
	if t.running >= t.slots {
		return found
	}
	for i, c := range t.waiting {
		n := t.uses[c.sender].running
		if (found < 0 || n < fewest) && (c.sender == "" || n < share(t.slots)) {
			found, fewest = i, n
		}
		if found >= 0 && (fewest == 0 || len(t.uses) == 1) {
			break
		}
	}
	return found
}

// enqueue has c run by a worker. The caller holds mu.
func (t *table) enqueue(c *call) {
	t.waiting = append(t.waiting, c)
	t.use(c).waiting++
	if t.parked > 0 || t.workers < t.slots {
		t.wakeWorker()
	}
}

// wakeWorker has a worker look for something to do: a parked one, or a new one. The
// caller holds mu.
func (t *table) wakeWorker() {
	if t.parked > 0 {
		t.parked--
		t.wake.Signal()
		return
	}
	t.workers++
	go t.work()
}

// lead calls read until it returns nil, which ends the reading: in the calling goroutine,
// and then in those of workers, one at a time. Whoever reads a call that has a slot runs
// it, and another one reads on. A worker that was to run it would first have to wake up,
// which takes 30 to 100 µs on a machine at rest; now the client waits for no other thread
// than the one that its message has woken.
func (t *table) lead(read func() *call) {
	t.read = read
	if c := read(); c != nil {
		c.run()
		t.work()
	}
}

// work runs calls, and reads some, until the table is closed, whose idle waits for it.
func (t *table) work() {
	for {
		c, reads := t.next()
		if reads {
			c = t.read()
		}
		if c == nil {
			return
		}
		c.run()
	}
}

// leave frees the slot of a call. Its run must call it.
func (t *table) leave(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.held -= len(c.raw)
	u := t.use(c)
	u.running--
	u.held -= len(c.raw)
	t.tidy(c)
}

// starts gives c a slot. The caller holds mu.
func (t *table) starts(c *call) {
	t.running++
	t.use(c).running++
	c.started = true
}

// unqueue removes c from the queue. The caller holds mu.
func (t *table) unqueue(c *call) {
	if i := slices.Index(t.waiting, c); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.held -= len(c.raw)
		u := t.use(c)
		u.waiting--
		u.held -= len(c.raw)
		t.tidy(c)
	}
}

// withdraw removes a call that has ended, and reports whether it did: no worker has
// it, nor will have.
func (t *table) withdraw(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.started {
		return false
	}
	t.unqueue(c)
	if t.calls[c.key] == c {
		delete(t.calls, c.key)
	}
	return true
}

// next waits for a call to run, or returns that the worker has to read, and counts as
// none meanwhile. The worker ends when it gets neither.
func (t *table) next() (c *call, reads bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.unread && !t.startable() && !t.closed && t.workers <= t.slots {
		t.parked++
		t.wake.Wait()
	}
	switch {
	case t.unread:
		t.unread = false
		t.workers--
		return nil, true
	case !t.startable(): // closed, or there are enough others
		t.workers--
		t.signalIdle()
		return nil, false
	}
	i := t.first()
	c = t.waiting[i]
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.use(c).waiting--
	t.starts(c)
	return c, false
}

// startable reports whether a call waits and there is a slot for it. The caller holds
// mu.
func (t *table) startable() bool { return t.first() >= 0 }

// attach adds c, a stream that needs no slot. The caller must call detach at its end.
func (t *table) attach(c *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.calls[c.key] != nil:
		return errDuplicate
	case t.closed, t.streams >= t.maxStreams:
		return errBusy
	}
	u := t.use(c)
	if c.sender != "" && u.streams >= share(t.maxStreams) {
		return errShare
	}
	t.calls[c.key] = c
	t.streams++
	u.streams++
	return nil
}

func (t *table) detach(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls[c.key] == c {
		delete(t.calls, c.key)
	}
	t.streams--
	t.use(c).streams--
	t.tidy(c)
	t.signalIdle()
}

// endStreams cancels all streams. They may still be answered.
func (t *table) endStreams(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.run == nil {
			c.cancel(cause)
		}
	}
}

// cancel ends the call of a key, and reports whether there is one. It is not answered,
// and does not start if it waits.
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

// has reports whether a request of a key is in flight.
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

// finish frees the id of c for the client, and reports whether c may be answered. A
// later cancellation has no effect.
func (t *table) finish(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls[c.key] != c {
		return false
	}
	delete(t.calls, c.key)
	return true
}

// close refuses new calls. Queued ones still run.
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
