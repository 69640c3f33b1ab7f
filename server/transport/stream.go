package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// stream serves one client whose messages and answers go over one pair of
// streams. Whoever reads the client's messages passes them to receive.
type stream struct {
	edge
	options    StdioOptions
	client     *peer    // the legacy client
	broadcasts *session // the client as mcp-go's broadcasts see it
	moderns    atomic.Int64
	calls      *table
	writer     *writer
	outbox     *outbox // its goroutine is started here and ended by shutdown
}

// newStream returns a stream that writes to w, and calls stop when that fails.
// The client acts for the principal of ctx. kind says in its name what it comes by.
// shutdown must be called.
func newStream(ctx context.Context, stop context.CancelCauseFunc, b Backend, w io.Writer, kind string, o StdioOptions) (*stream, error) {
	s := &stream{
		edge:    b.edge(o.Logger),
		options: o,
		client:  newPeer(kind+"-"+rand.Text(), identity.FromContext(ctx)), // unique: one core may serve several streams
		calls:   newTable(o.Calls, o.Queue, 8*o.MaxLine, maxListens),
		writer:  newWriter(w, stop),
	}
	s.outbox = newOutbox(o.Logger, s.writer.write)
	s.broadcasts = &session{peer: s.client, mailbox: newMailbox(ctx, s.announce)}
	if err := b.Core.RegisterSession(ctx, s.broadcasts); err != nil {
		return nil, fmt.Errorf("register session: %w", err)
	}
	go s.outbox.run()
	return s, nil
}

// maxListens is how many subscriptions one stream may have.
const maxListens = 16

// shutdown ends the serving, after its context has ended and with it the reading,
// and returns its result, given the reason for ending.
func (s *stream) shutdown(reason error, read <-chan struct{}) error {
	gone := make(chan struct{}) // closed when nothing of this run is left
	go func() {
		defer close(gone)
		<-read
		<-s.calls.idle
		s.Core.UnregisterSession(context.Background(), s.client.SessionID())
		s.broadcasts.close()
		s.outbox.close()
	}()
	if within(s.options.Grace, gone) {
		return cmp.Or(reason, s.writer.close())
	}
	s.writer.abandon()
	if within(released, gone) {
		return cmp.Or(reason, errUnread)
	}
	s.Core.UnregisterSession(context.Background(), s.client.SessionID())
	s.log.Warn("stopped while requests were still running", "requests", s.calls.count())
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
