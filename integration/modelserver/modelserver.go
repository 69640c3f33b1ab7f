// Package modelserver is an endpoint of models for tests: it speaks the APIs that
// server/agents/chat does, streamed, and a function of the test replies. Start with [Start],
// or with [New] for a handler.
package modelserver

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A Script is a function that replies. ctx is done when the client has gone.
type Script func(ctx context.Context, r *Request) Reply

// A Server is a handler that replies by a script, and counts.
type Server struct {
	URL    string // ends in /v1; only of [Start]
	script Script
	n      atomic.Int64
	sent   atomic.Int64

	mu       sync.Mutex
	active   int
	idle     *sync.Cond // broadcasts when active becomes 0
	most     int        // requests at once
	requests []*Request
	keep     int
}

// New returns a handler. It keeps the first thousand requests.
func New(script Script) *Server {
	s := &Server{script: script, keep: 1000}
	s.idle = sync.NewCond(&s.mu)
	return s
}

// Start starts a server for a test.
func Start(t testing.TB, script Script) *Server {
	s := New(script)
	listening := httptest.NewServer(s)
	t.Cleanup(func() { listening.CloseClientConnections(); listening.Close() })
	s.URL = listening.URL + "/v1"
	return s
}

// Count returns the number of requests so far.
func (s *Server) Count() int { return int(s.n.Load()) }

// Sent returns the number of bytes of faults that clients have taken.
func (s *Server) Sent() int64 { return s.sent.Load() }

// Most returns the largest number of requests at once.
func (s *Server) Most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Wait waits until no request is under way.
func (s *Server) Wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.active > 0 {
		s.idle.Wait()
	}
}

// Requests returns the first thousand requests.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, api, err := s.decode(r)
	if err != nil {
		http.Error(w, fmt.Sprintf(`{"error":{"type":"invalid_request_error","message":%q}}`, err), http.StatusBadRequest)
		return
	}
	s.record(request)
	defer s.release()
	reply := s.script(r.Context(), request)
	if reply.Fault != "" {
		s.sent.Add(fault(w, r, api, reply))
		return
	}
	stream(w, api.events(request, reply))
}

func (s *Server) decode(r *http.Request) (*Request, api, error) {
	var api api
	switch {
	case r.Method != http.MethodPost:
		return nil, nil, fmt.Errorf("%s is not POST", r.Method)
	case strings.HasSuffix(r.URL.Path, "/v1/chat/completions"):
		api = openAI{}
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		api = anthropic{}
	default:
		return nil, nil, fmt.Errorf("there is nothing at %s", r.URL.Path)
	}
	request, err := api.decode(r)
	return request, api, err
}

func (s *Server) record(r *Request) {
	r.N = int(s.n.Add(1))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
	s.most = max(s.most, s.active)
	if len(s.requests) < s.keep {
		s.requests = append(s.requests, r)
	}
}

func (s *Server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active--; s.active == 0 {
		s.idle.Broadcast()
	}
}

// stream writes events.
func stream(w http.ResponseWriter, events []string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for i, event := range events {
		if _, err := fmt.Fprint(w, event); err != nil {
			return
		}
		if i == 0 || i == len(events)/2 { // so that a client sees it in several parts
			_ = http.NewResponseController(w).Flush()
		}
	}
}
