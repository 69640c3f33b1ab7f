package transport

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
)

// maxNotices is how many broadcasts wait for a client that does not read.
const maxNotices = 2 * maxSubscriptions

// A notice is a broadcast on its way to a client.
type notice struct {
	method string
	line   []byte
	wanted func() bool // asked when it is written; nil is yes
}

// notices are broadcasts that nobody waits for. One that is waiting already says
// all that its like could, so there are few of them.
type notices struct {
	log  *slog.Logger
	wake chan struct{} // room for one: there are notices

	writing sync.Mutex // held by each
	mu      sync.Mutex // guards waiting; taken under writing
	waiting []notice
}

func newNotices(log *slog.Logger) *notices {
	return &notices{log: log, wake: make(chan struct{}, 1)}
}

// announce adds a notice and never waits. Where there are too many, the oldest
// goes, and the log says so.
func (q *notices) announce(n notice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	same := func(m notice) bool { return bytes.Equal(m.line, n.line) }
	if slices.ContainsFunc(q.waiting, same) {
		return
	}
	if len(q.waiting) >= maxNotices {
		q.log.Warn("the client does not read: dropped a notification", "method", q.waiting[0].method)
		q.waiting = slices.Delete(q.waiting, 0, 1)
	}
	q.waiting = append(q.waiting, n)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns the oldest.
func (q *notices) take() (n notice, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return notice{}, false
	}
	n = q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return n, true
}

// each passes all that wait to write, and returns when those are written, too,
// that another call of it has taken.
func (q *notices) each(write func(line []byte, wanted func() bool)) {
	q.writing.Lock()
	defer q.writing.Unlock()
	for n, ok := q.take(); ok; n, ok = q.take() {
		write(n.line, n.wanted)
	}
}

// maxReplies is how many replies of the read loop wait to be written.
const maxReplies = 64

// outbox writes what must not hold up its sender when the client does not
// read: the replies of the read loop and broadcasts.
type outbox struct {
	*notices
	write func(line []byte, wanted func() bool) // called by run only

	replies chan []byte   // filled by reply, emptied by run
	stop    chan struct{} // closed by close
	done    chan struct{} // closed by run when it ends
}

func newOutbox(log *slog.Logger, write func(line []byte, wanted func() bool)) *outbox {
	return &outbox{
		notices: newNotices(log),
		write:   write,
		replies: make(chan []byte, maxReplies),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
}

// reply queues a reply of the read loop. Only when maxReplies of them have not
// been taken does it wait: a client that asks on and reads nothing is not read
// any further, which is what bounds it.
func (o *outbox) reply(ctx context.Context, line []byte) {
	select {
	case o.replies <- line:
	case <-ctx.Done():
	}
}

// run writes until close, and then what is left.
func (o *outbox) run() {
	defer close(o.done)
	for {
		select {
		case line := <-o.replies:
			o.write(line, nil)
		case <-o.wake:
			o.each(o.write)
		case <-o.stop:
			o.writeRest()
			return
		}
	}
}

func (o *outbox) writeRest() {
	for {
		select {
		case line := <-o.replies:
			o.write(line, nil)
		default:
			o.each(o.write)
			return
		}
	}
}

// close returns when everything queued has been written.
func (o *outbox) close() {
	close(o.stop)
	<-o.done
}
