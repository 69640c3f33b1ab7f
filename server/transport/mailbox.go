package transport

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// mailboxSize is the number of notifications that wait for delivery.
const mailboxSize = 16

// A mailbox is a queue of notifications with backpressure. It delivers what mcp-go
// sends one by one, in order.
//
// mcp-go asks a session for its channel immediately before each send, and drops the
// notification if the channel is full. So NotificationChannel waits for room and
// reserves it, and the send that follows cannot fail: the sender waits, and nothing is
// dropped.
type mailbox struct {
	ctx     context.Context               // the wait for room ends with it
	deliver func(mcp.JSONRPCNotification) // called by the pump only

	mu      sync.Mutex // guards started and closed; taken by senders and close
	started bool
	closed  bool

	// Made, and the pump started, when the first sender comes: most requests
	// send nothing.
	room  chan struct{}                // a token for each place taken in queue: put by senders, taken by the pump
	queue chan mcp.JSONRPCNotification // filled by mcp-go, emptied by the pump; never closed, as a sender may be late
	stop  chan struct{}                // closed by close
	done  chan struct{}                // closed by the pump when it ends
}

func newMailbox(ctx context.Context, deliver func(mcp.JSONRPCNotification)) *mailbox {
	return &mailbox{ctx: ctx, deliver: deliver}
}

// NotificationChannel returns a channel with room for one notification, which the
// caller must send. After close, or if the context is done before there is room, it
// returns nil, which mcp-go reports as a blocked channel.
func (m *mailbox) NotificationChannel() chan<- mcp.JSONRPCNotification {
	if !m.open() {
		return nil
	}
	select {
	case m.room <- struct{}{}:
		return m.queue
	case <-m.stop:
		return nil
	case <-m.ctx.Done():
		return nil
	}
}

func (m *mailbox) open() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.started {
		return !m.closed
	}
	m.started = true
	m.room = make(chan struct{}, mailboxSize)
	m.queue = make(chan mcp.JSONRPCNotification, mailboxSize)
	m.stop = make(chan struct{})
	m.done = make(chan struct{})
	go m.pump()
	return true
}

// close returns when everything sent before it has been delivered.
func (m *mailbox) close() {
	m.mu.Lock()
	first := !m.closed
	m.closed = true
	started := m.started
	m.mu.Unlock()
	if !started {
		return
	}
	if first {
		close(m.stop)
	}
	<-m.done
}

func (m *mailbox) pump() {
	defer close(m.done)
	for {
		select {
		case n := <-m.queue:
			<-m.room
			m.deliver(n)
		case <-m.stop:
			m.drain()
			return
		}
	}
}

func (m *mailbox) drain() {
	for {
		select {
		case n := <-m.queue:
			m.deliver(n)
		default:
			return
		}
	}
}
