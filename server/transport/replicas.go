package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/replica"
)

// pass has another server answer a request, and reports false for one of which that server
// has got nothing. A request that was sent is not repeated: a call may have run.
func (e *endpoint) pass(a *responder, r *http.Request, m message, server string) bool {
	w := &replyWriter{ResponseWriter: a.w, id: m.id}
	err := e.options.Replicas.Pass(w, r, m.raw, server)
	switch {
	case errors.Is(err, replica.ErrUnsent):
		return false
	case !errors.Is(err, replica.ErrLost), m.kind != request, w.replied:
		return true
	}
	e.log.Warn("a request was lost with another server", "server", server, "method", m.method, "id", string(m.id))
	a.mu.Lock()
	a.stream = w.begun // so that the reply is an event of the stream
	a.mu.Unlock()
	a.finish(http.StatusOK, (&rpcError{id: m.id, code: mcp.INTERNAL_ERROR, message: err.Error()}).encode())
	return true
}

// A replyWriter notes whether the reply to a request is among the events that it writes.
type replyWriter struct {
	http.ResponseWriter
	id             json.RawMessage // of the request; nil has no reply
	begun, replied bool
	line           []byte // without its end so far
}

// Unwrap is for [http.ResponseController].
func (w *replyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *replyWriter) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *replyWriter) Write(part []byte) (int, error) {
	if w.id != nil && !w.replied {
		w.line = append(w.line, part...)
		for end := bytes.IndexByte(w.line, '\n'); end >= 0; end = bytes.IndexByte(w.line, '\n') {
			data, _ := bytes.CutPrefix(w.line[:end], []byte("data: "))
			m, f := parse(bytes.TrimSpace(data))
			w.replied = w.replied || f == nil && m.kind == response && bytes.Equal(m.id, w.id)
			w.line = w.line[end+1:]
		}
	}
	return w.ResponseWriter.Write(part)
}

// A kept session is the part of a legacy client's session that outlives its server.
type keptSession struct {
	Version      string                 `json:"version"`
	Info         mcp.Implementation     `json:"info"`
	Capabilities mcp.ClientCapabilities `json:"capabilities"`
}

// keep stores the session of a client for the other servers.
func (s *sessions) keep(ctx context.Context, c *httpClient) {
	if s.replicas == nil {
		return
	}
	body, err := json.Marshal(keptSession{c.ProtocolVersion(), c.GetClientInfo(), c.GetClientCapabilities()})
	if err == nil {
		err = s.replicas.Sessions().Keep(ctx, c.id, c.owner, body)
	}
	if err != nil {
		s.edge.log.Warn("a session will end with this server", "error", err)
	}
}

// take resumes the session of a server that has ended, or is unreachable. If another server
// has it, home is the name of that. The session is the same principal's, or there is none.
func (s *sessions) take(r *http.Request, id, unreachable string) (c *httpClient, home string) {
	s.taking.Lock() // two requests resume it once
	defer s.taking.Unlock()
	if c, _ = s.enter(r); c != nil {
		return c, ""
	}
	body, home, err := s.replicas.Sessions().Take(r.Context(), id, principalOf(r).Key(), unreachable)
	var kept keptSession
	if err == nil && body != nil {
		err = json.Unmarshal(body, &kept)
	}
	if err != nil {
		s.edge.log.Warn("a session of another server is not resumed", "error", err)
	}
	if err != nil || body == nil {
		return nil, home
	}
	c = s.begin(r, id)
	c.SetProtocolVersion(kept.Version)
	c.SetClientInfo(kept.Info)
	c.SetClientCapabilities(kept.Capabilities)
	c.Initialize()
	s.add(context.WithoutCancel(r.Context()), c)
	c, _ = s.enter(r) // nil if there are too many
	return c, ""
}
