package transport

import (
	"context"
	"log/slog"
)

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
