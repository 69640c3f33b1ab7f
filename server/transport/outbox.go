package transport

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxSubscriptions is how many resources a client may subscribe to.
	maxSubscriptions = 1024
	// maxNotices is the number of broadcasts that wait for a client that does not read.
	maxNotices = 2 * maxSubscriptions
)

// noticeGap is the shortest time between two equal notices of a change: a client that
// lists again after each one would be busy while somebody edits.
const noticeGap = time.Second

// A notice is a broadcast on its way to a client.
type notice struct {
	method string
	line   []byte
	wanted func() bool   // asked when it is written; nil is yes
	late   func() []byte // makes the lines when they are written, in place of line; may be nil
	due    time.Time     // when it may be written; set by announce
}

// lines returns the lines to write now, or nil.
func (n notice) lines() []byte {
	switch {
	case n.late != nil:
		return n.late()
	case n.wanted != nil && !n.wanted():
		return nil
	}
	return n.line
}

// ofChange reports whether a notice says that something has changed, and not how.
func (n notice) ofChange() bool {
	return strings.HasSuffix(n.method, "/list_changed") || n.method == mcp.MethodNotificationResourceUpdated
}

// notices are a queue of broadcasts whose senders do not wait. Equal ones are merged,
// so there are few.
type notices struct {
	log  *slog.Logger
	wake chan struct{} // room for one: there are notices

	writing sync.Mutex // held by each
	mu      sync.Mutex // guards the fields below; taken under writing
	waiting []notice
	written map[string]time.Time // when each line of a change was taken last, for noticeGap
}

func newNotices(log *slog.Logger) *notices {
	return &notices{log: log, wake: make(chan struct{}, 1), written: map[string]time.Time{}}
}

// announce queues a notice without waiting. If there are too many, it drops the oldest
// and logs that.
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
	maps.DeleteFunc(q.written, func(_ string, at time.Time) bool { return time.Since(at) >= noticeGap })
	if at, lately := q.written[string(n.line)]; lately {
		n.due = at.Add(noticeGap)
		time.AfterFunc(time.Until(n.due), q.signal)
	} else {
		q.signal()
	}
	q.waiting = append(q.waiting, n)
}

// signal has the queue looked at.
func (q *notices) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes the oldest notice that is due by a time, and returns it.
func (q *notices) take(by time.Time) (n notice, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.IndexFunc(q.waiting, func(n notice) bool { return !n.due.After(by) })
	if at < 0 {
		return notice{}, false
	}
	n = q.waiting[at]
	q.waiting = slices.Delete(q.waiting, at, at+1)
	if n.ofChange() {
		q.written[string(n.line)] = time.Now()
	}
	return n, true
}

// each passes the queued notices that are due to write. It returns when those are
// written, too, that a concurrent call has taken.
func (q *notices) each(write func(lines func() []byte)) { q.until(time.Now(), write) }

// rest passes all queued notices to write, as each does.
func (q *notices) rest(write func(lines func() []byte)) {
	q.until(time.Now().Add(noticeGap), write)
}

func (q *notices) until(by time.Time, write func(lines func() []byte)) {
	q.writing.Lock()
	defer q.writing.Unlock()
	for n, ok := q.take(by); ok; n, ok = q.take(by) {
		write(n.lines)
	}
}

// maxReplies is the number of replies of the read loop that wait to be written.
const maxReplies = 64

// An outbox writes in the background what must not block its sender when the client
// does not read: the replies of the read loop, and broadcasts.
type outbox struct {
	*notices
	write func(lines func() []byte) // called by run only

	replies chan []byte   // filled by reply, emptied by run
	stop    chan struct{} // closed by close
	done    chan struct{} // closed by run when it ends
}

func newOutbox(log *slog.Logger, write func(lines func() []byte)) *outbox {
	return &outbox{
		notices: newNotices(log),
		write:   write,
		replies: make(chan []byte, maxReplies),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
}

// reply queues a reply of the read loop. It waits when maxReplies are queued: a client
// that sends on and reads nothing is not read any further.
func (o *outbox) reply(ctx context.Context, line []byte) {
	select {
	case o.replies <- line:
	case <-ctx.Done():
	}
}

// run writes until close, and then the rest of the queue.
func (o *outbox) run() {
	defer close(o.done)
	for {
		select {
		case line := <-o.replies:
			o.write(notice{line: line}.lines)
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
			o.write(notice{line: line}.lines)
		default:
			o.rest(o.write)
			return
		}
	}
}

// close returns when everything queued has been written.
func (o *outbox) close() {
	close(o.stop)
	<-o.done
}
