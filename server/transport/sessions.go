package transport

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// sessions are the legacy clients of an HTTP server. A modern client has none.
type sessions struct {
	edge *edge
	over func(id string) // told of each session that has ended
	ctx  context.Context // of the server
	idle time.Duration
	most int

	ending sync.WaitGroup // what forget has begun; close waits for it

	mu     sync.Mutex // guards what follows
	byID   map[string]*httpClient
	closed bool
}

func newSessions(e *endpoint, over func(id string)) *sessions {
	return &sessions{edge: &e.edge, over: over, ctx: e.ctx, idle: e.options.SessionIdle, most: e.options.Sessions, byID: map[string]*httpClient{}}
}

// An httpClient is a legacy one, from its initialize to its end.
type httpClient struct {
	*peer
	owner      identity.Key // who initialized it; nobody else may use it
	broadcasts *session     // as mcp-go's broadcasts see it
	queue      *notices     // for its GET stream

	ctx  context.Context // of its requests and streams
	stop context.CancelCauseFunc

	// Guarded by the mutex of sessions:
	busy   int         // requests and streams
	since  time.Time   // the last of them has ended
	timer  *time.Timer // ends the session
	stream func()      // ends the GET stream; nil where there is none
}

// callKey tells a client's requests apart from those of others.
func (c *httpClient) callKey(id []byte) string { return c.id + " " + key(id) }

// begin returns a client that is about to initialize. It must be added, or it is
// forgotten.
func (s *sessions) begin(p identity.Principal) *httpClient {
	c := &httpClient{peer: newPeer("http-"+rand.Text(), p), owner: p.Key(), queue: newNotices(s.edge.log)}
	c.ctx, c.stop = context.WithCancelCause(s.ctx)
	c.broadcasts = &session{peer: c.peer, mailbox: newMailbox(c.ctx, func(n mcp.JSONRPCNotification) {
		if line, ok := s.edge.encodeNotification(n); ok {
			c.queue.announce(notice{method: n.Method, line: line})
		}
	})}
	return c
}

// add keeps a client that has initialized, in place of the one that has been
// silent longest where there are too many. It reports false where all are busy.
func (s *sessions) add(ctx context.Context, c *httpClient) bool {
	s.mu.Lock()
	if s.closed || len(s.byID) >= s.most && !s.makeRoom() {
		s.mu.Unlock()
		return false
	}
	s.byID[c.id] = c
	c.since = time.Now()
	c.timer = time.AfterFunc(s.idle, func() { s.end(c, true) })
	s.mu.Unlock()
	if err := s.edge.Core.RegisterSession(ctx, c.broadcasts); err != nil { // its name is random
		s.edge.log.Error("register session", "err", err)
	}
	c.welcome()
	return true
}

// makeRoom ends the client that has been silent longest. The caller holds mu.
func (s *sessions) makeRoom() bool {
	var oldest *httpClient
	for _, c := range s.byID {
		if c.busy == 0 && (oldest == nil || c.since.Before(oldest.since)) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	s.edge.log.Warn("too many sessions: ended the one that was silent longest", "sessions", len(s.byID))
	s.forget(oldest)
	return true
}

// enter returns the client that a request is of, which the caller must leave; nil
// where there is none, or it is another's, which foreign says.
func (s *sessions) enter(r *http.Request) (c *httpClient, foreign bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c = s.byID[r.Header.Get(SessionHeader)]
	if c == nil || c.owner != principalOf(r).Key() {
		return nil, c != nil
	}
	c.busy++
	c.timer.Stop()
	return c, false
}

func (s *sessions) leave(c *httpClient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.busy--; c.busy == 0 && s.byID[c.id] == c {
		c.since = time.Now()
		c.timer.Reset(s.idle)
	}
}

// end ends a client's session; where onlyIdle, unless something has come since.
func (s *sessions) end(c *httpClient, onlyIdle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[c.id] == c && !(onlyIdle && c.busy > 0) {
		s.forget(c)
	}
}

var errEnded = errors.New("the session has ended")

// forget takes a client out, and ends its requests and streams. The caller holds
// mu.
func (s *sessions) forget(c *httpClient) {
	delete(s.byID, c.id)
	c.timer.Stop()
	c.stop(errEnded)
	s.over(c.id)
	// What belongs to the client may take a while to end.
	s.ending.Go(func() {
		s.edge.Core.UnregisterSession(context.Background(), c.id)
		c.broadcasts.close()
	})
}

// follow makes a GET stream the one that a client's notices go to. An older one
// ends: its client has given it up, or would get half of them.
func (s *sessions) follow(c *httpClient, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.stream != nil {
		c.stream()
	}
	c.stream = cancel
}

// close ends all sessions. What it returns is closed when nothing of any is left.
func (s *sessions) close() (gone <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.byID {
		s.forget(c)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.ending.Wait()
	}()
	return ended
}
