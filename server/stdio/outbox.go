package stdio

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

const (
	maxReplies = 64  // replies of the read loop, waiting to be written
	maxNotices = 256 // broadcasts, waiting to be written
)

// outbox writes what must not hold up its sender when the client does not
// read: the replies of the read loop and broadcasts.
type outbox struct {
	log   *slog.Logger
	write func(line []byte) // called by run only

	replies chan []byte   // filled by reply, emptied by run
	wake    chan struct{} // room for one: there are notices
	stop    chan struct{} // closed by close
	done    chan struct{} // closed by run when it ends

	mu      sync.Mutex // guards notices; taken by announce and run
	notices []notice
}

type notice struct {
	method string
	plain  bool // has no params: another one says nothing new
	line   []byte
}

func newOutbox(log *slog.Logger, write func(line []byte)) *outbox {
	return &outbox{
		log:     log,
		write:   write,
		replies: make(chan []byte, maxReplies),
		wake:    make(chan struct{}, 1),
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

// announce queues a broadcast and never waits. One without params takes the
// place of its like that is not yet written, so there are few of them; of the
// others the oldest goes when there are too many.
func (o *outbox) announce(n notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	same := func(m notice) bool { return m.plain && m.method == n.method }
	if n.plain && slices.ContainsFunc(o.notices, same) {
		return
	}
	if len(o.notices) >= maxNotices {
		i := slices.IndexFunc(o.notices, func(m notice) bool { return !m.plain })
		o.log.Warn("the client does not read: dropped a notification", "method", o.notices[max(i, 0)].method)
		o.notices = slices.Delete(o.notices, max(i, 0), max(i, 0)+1)
	}
	o.notices = append(o.notices, n)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes until close, and then what is left.
func (o *outbox) run() {
	defer close(o.done)
	for {
		select {
		case line := <-o.replies:
			o.write(line)
		case <-o.wake:
			o.writeNotices()
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
			o.write(line)
		default:
			o.writeNotices()
			return
		}
	}
}

func (o *outbox) writeNotices() {
	for n, ok := o.takeNotice(); ok; n, ok = o.takeNotice() {
		o.write(n.line)
	}
}

func (o *outbox) takeNotice() (n notice, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.notices) == 0 {
		return notice{}, false
	}
	n = o.notices[0]
	o.notices = slices.Delete(o.notices, 0, 1)
	return n, true
}

// close returns when everything queued has been written.
func (o *outbox) close() {
	close(o.stop)
	<-o.done
}
