package transport

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/replica"
)

// sessions are the sessions of an HTTP server's legacy clients.
type sessions struct {
	edge *edge
	ctx  context.Context // of the server
	idle time.Duration
	most int

	replicas *replica.Set // nil is none
	taking   sync.Mutex   // held while a session of another server is resumed

	ending sync.WaitGroup // what forget has begun; close waits for it

	mu     sync.Mutex // guards the fields below
	byID   map[string]*httpClient
	closed bool
}

// An httpClient is a legacy client and its session, from initialize to its end.
type httpClient struct {
	*peer
	owner      identity.Key // who initialized it; nobody else may use it
	sender     string       // who has a share of the sessions; "" may have all
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

// callKey returns the key of a client's request among those of all clients.
func (c *httpClient) callKey(id json.RawMessage) string { return c.id + " " + key(id) }

// begin returns the client of a request, with a session that add registers.
func (s *sessions) begin(r *http.Request, id string) *httpClient {
	p := principalOf(r)
	c := &httpClient{peer: newPeer(id, p, s.edge.Lists), owner: p.Key(), sender: senderOf(r), queue: newNotices(s.edge.log)}
	c.peer.notices = c.queue
	c.ctx, c.stop = context.WithCancelCause(s.ctx)
	c.broadcasts = &session{peer: c.peer, mailbox: newMailbox(c.ctx, func(n mcp.JSONRPCNotification) {
		if line, ok := s.edge.encodeNotification(n); ok {
			c.queue.announce(notice{method: n.Method, line: line})
		}
	})}
	return c
}

// add registers a client that has initialized. If there are too many, it ends the
// session that has been idle longest, of the same sender if that has its share; or it reports
// false if none is idle.
func (s *sessions) add(ctx context.Context, c *httpClient) bool {
	s.mu.Lock()
	if s.closed || !s.room(c.sender) {
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

// room makes room for a session of a sender, and reports whether there is some. The caller
// holds mu.
func (s *sessions) room(sender string) bool {
	own := 0
	for _, c := range s.byID {
		if sender != "" && c.sender == sender {
			own++
		}
	}
	if own >= share(s.most) {
		return s.evictIdle(func(c *httpClient) bool { return c.sender == sender })
	}
	return len(s.byID) < s.most || s.evictIdle(func(*httpClient) bool { return true })
}

// evictIdle ends the session, of those that may end, that has been idle longest. It reports
// false if none is idle. The caller holds mu.
func (s *sessions) evictIdle(may func(*httpClient) bool) bool {
	var oldest *httpClient
	for _, c := range s.byID {
		if may(c) && c.busy == 0 && (oldest == nil || c.since.Before(oldest.since)) {
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

// enter returns the client of a request, whose session the caller must leave. It returns
// nil if there is none; foreign reports that it is another principal's.
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

// end ends a client's session, with onlyIdle unless it is busy.
func (s *sessions) end(c *httpClient, onlyIdle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[c.id] == c && !(onlyIdle && c.busy > 0) {
		s.forget(c)
	}
}

var errEnded = errors.New("the session has ended")

// forget removes a client, and ends its requests and streams. Where the server ends, another
// one may resume the session. The caller holds mu.
func (s *sessions) forget(c *httpClient) {
	delete(s.byID, c.id)
	c.timer.Stop()
	c.stop(errEnded)
	// Tasks and sandboxes of the client may take a while to end.
	closed := s.closed
	s.ending.Go(func() {
		if !closed && s.replicas != nil {
			s.replicas.Sessions().Drop(context.Background(), c.id)
		}
		s.edge.unregister(c.peer)
		c.broadcasts.close()
	})
}

// follow makes a GET stream the target of a client's notices. It ends an older one,
// which its client has abandoned, or would get half of them.
func (s *sessions) follow(c *httpClient, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.stream != nil {
		c.stream()
	}
	c.stream = cancel
}

// close ends all sessions. The channel is closed when all of them are released.
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
