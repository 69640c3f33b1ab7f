package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A stream serves one client over one input and one output. The read loop of the input
// passes messages to receive.
type stream struct {
	edge
	options    Options
	leads      bool     // receive is called by the function of the table's lead
	client     *peer    // the legacy client
	broadcasts *session // the client as mcp-go's broadcasts see it
	moderns    atomic.Int64
	calls      *table
	writer     *writer
	outbox     *outbox // its goroutine is started here and ended by shutdown
}

// newStream returns a stream that writes to w, and calls stop when that fails. The
// client acts for the principal of ctx; its session's id begins with kind. shutdown
// must be called.
func newStream(ctx context.Context, stop context.CancelCauseFunc, b Backend, w io.Writer, kind string, o Options) (*stream, error) {
	e := newEdge(b, o)
	s := &stream{
		edge:    e,
		options: o,
		client:  newPeer(kind+"-"+rand.Text(), identity.FromContext(ctx), e.Lists), // unique: one core may serve several streams
		calls:   newTable(o.bounds.calls, o.bounds.queue, 8*o.bounds.message, o.bounds.streams),
		writer:  newWriter(w, stop),
	}
	s.outbox = newOutbox(o.Logger, s.writer.compose)
	s.client.notices = s.outbox.notices
	s.broadcasts = &session{peer: s.client, mailbox: newMailbox(ctx, s.announce)}
	if err := b.Core.RegisterSession(ctx, s.broadcasts); err != nil {
		return nil, fmt.Errorf("register session: %w", err)
	}
	go s.outbox.run()
	return s, nil
}

// shutdown releases the stream after its context has ended and read is closed. It
// returns reason, or the error of the writer, or [ErrAbandoned].
func (s *stream) shutdown(reason error, read <-chan struct{}) error {
	gone := make(chan struct{}) // closed when nothing of this run is left
	go func() {
		defer close(gone)
		<-read
		<-s.calls.idle
		s.unregister(s.client)
		s.broadcasts.close()
		s.outbox.close()
	}()
	if within(s.options.bounds.grace, gone) {
		return cmp.Or(reason, s.writer.close())
	}
	s.writer.abandon()
	if within(released, gone) {
		return cmp.Or(reason, errUnread)
	}
	s.Core.UnregisterSession(context.Background(), s.client.SessionID())
	s.log.Warn("stopped while requests were still running", "requests", s.calls.count())
	if reason == nil {
		return ErrAbandoned
	}
	return errors.Join(reason, ErrAbandoned)
}

// within reports whether c is closed within d.
func within(d time.Duration, c <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// receive handles one line in the read loop. It waits for no call and, except for the
// reply to initialize, not for the client to read. If it returns a call, the table's
// lead has to run it.
func (s *stream) receive(ctx context.Context, line []byte) *call {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	switch m, f := parse(line); {
	case f != nil:
		s.refuse(ctx, f)
	case m.kind == request:
		return s.request(ctx, m)
	default:
		s.dispatch(ctx, s.broadcasts, m, s.calls, key)
	}
	return nil
}

func (s *stream) refuse(ctx context.Context, f *rpcError) {
	s.log.Debug("refused a message", "id", string(f.id), "code", f.code, "reason", f.message)
	s.outbox.reply(ctx, f.encode())
}

func (s *stream) request(ctx context.Context, m message) *call {
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodInitialize:
		s.inline(ctx, m, s.initialize)
	case mcp.MethodPing:
		s.inline(ctx, m, s.ping)
	case mcp.MethodSubscriptionsListen:
		// mcp-go would acknowledge, occupy a slot for good and deliver nothing.
		s.subscribe(ctx, m)
	default:
		return s.start(ctx, m)
	}
	return nil
}

// inline runs a request in the read loop: it is answered before the next message is
// read, and cannot be cancelled.
func (s *stream) inline(ctx context.Context, m message, run func(context.Context, message)) {
	if s.calls.has(key(m.id)) {
		s.refuse(ctx, refused(m, errDuplicate))
		return
	}
	run(ctx, m)
}

// initialize writes its reply itself, so that no change notice, nor the reply to the
// next request, is ahead of it.
func (s *stream) initialize(ctx context.Context, m message) {
	reply := s.exchange(ctx, s.peerOf(m), m, s.emit)
	s.writer.write(reply, nil)
	s.client.welcome()
}

func (s *stream) ping(ctx context.Context, m message) {
	s.outbox.reply(ctx, s.exchange(ctx, s.peerOf(m), m, s.emit))
}

// start admits a request. It returns the call if the reader runs it, and otherwise a
// worker does, when a slot is free.
func (s *stream) start(ctx context.Context, m message) *call {
	c := newCall(ctx, m, key(m.id))
	c.run = func() {
		defer s.calls.leave(c)
		defer c.cancel(nil)
		p := s.peerOf(c.message)
		reply := s.answer(c, p)
		s.writer.compose(func() []byte {
			if !s.calls.finish(c) {
				return nil
			}
			return announced(&s.edge, p, c.message, reply)
		})
		s.lists.recycle(reply)
	}
	here, err := s.admit(c)
	if err != nil {
		c.cancel(err)
		s.refuse(ctx, refused(m, err))
	}
	if here {
		return c
	}
	return nil
}

// admit admits a call. If here is true, the reader runs it.
func (s *stream) admit(c *call) (here bool, err error) {
	if s.leads {
		return s.calls.admitHere(c)
	}
	return false, s.calls.admit(c)
}

// subscribe runs subscriptions/listen, which stays open and needs no slot.
func (s *stream) subscribe(ctx context.Context, m message) {
	c := newCall(ctx, m, key(m.id))
	if err := s.calls.attach(c); err != nil {
		c.cancel(err)
		s.refuse(ctx, refused(m, err))
		return
	}
	go func() {
		defer s.calls.detach(c)
		defer c.cancel(nil)
		live := func() bool { return s.calls.live(c) }
		reply := s.listen(c.ctx, s.peerOf(m), m, func(n notice) {
			n.wanted = live
			s.outbox.announce(n)
		})
		s.outbox.rest(s.writer.compose) // also the acknowledgement, where there is nothing to wait for
		s.writer.write(reply, func() bool { return s.calls.finish(c) })
	}()
}

// answer handles a call of a client and returns its reply.
func (s *stream) answer(c *call, p *peer) []byte {
	live := func() bool { return s.calls.live(c) }
	var progress atomic.Pointer[time.Time] // when some was written last
	reply := s.exchange(c.ctx, p, c.message, func(line []byte) {
		s.writer.write(line, live)
		if bytes.HasPrefix(line, []byte(progressHead)) {
			now := time.Now()
			progress.Store(&now)
		}
	})
	if at := progress.Load(); at != nil {
		pause(c.ctx, progressGap-time.Since(*at))
	}
	return reply
}

// progressHead is the beginning of a line of progress.
const progressHead = `{"jsonrpc":"2.0","method":"notifications/progress"`

// progressGap is the delay between the last progress of a call and its result.
// If a client reads both at once, the TypeScript SDKs drop the progress (17 to 42 % of
// calls whose last act it was), and Claude Code closes the connection: the result
// removes the handler of progress before it is called.
const progressGap = 5 * time.Millisecond

// pause returns after d, or when ctx is done.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *stream) emit(line []byte) { s.writer.write(line, nil) }

// announce queues mcp-go's broadcasts for the client. It does not block.
func (s *stream) announce(n mcp.JSONRPCNotification) {
	if line, ok := s.encodeNotification(n); ok {
		s.outbox.announce(notice{method: n.Method, line: line})
	}
}

func (s *stream) peerOf(m message) *peer {
	if !m.modern {
		return s.client
	}
	return newModernPeer(fmt.Sprintf("%s-%d", s.client.id, s.moderns.Add(1)), s.client.principal)
}
