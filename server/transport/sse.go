package transport

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// sseEndpoint serves HTTP with server-sent events, the transport of 2024-11-05, which
// is deprecated since. A client opens a stream, which tells it where to post its
// messages; all answers come on the stream.
type sseEndpoint struct {
	*endpoint
	clients *sseClients
}

func newSSEEndpoint(e *endpoint) sseEndpoint {
	return sseEndpoint{e, &sseClients{byID: map[string]*sseClient{}}}
}

// sseClients are the clients whose stream is open.
type sseClients struct {
	mu   sync.Mutex // guards byID
	byID map[string]*sseClient
}

type sseClient struct {
	*stream
	owner     identity.Key
	ctx       context.Context // of the stream
	receiving sync.Mutex      // one message at a time, as from a read loop
}

func (s *sseClients) add(c *sseClient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[c.client.id] = c
}

func (s *sseClients) remove(c *sseClient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, c.client.id)
}

func (s *sseClients) find(r *http.Request) *sseClient {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[r.URL.Query().Get(sseID)]
	if c == nil || c.owner != principalOf(r).Key() {
		return nil
	}
	return c
}

// sseID is the parameter of [MessagePath] that names the stream.
const sseID = "sessionId"

// open serves one client, for as long as its stream is open.
func (h sseEndpoint) open(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		refuseMethod(w, http.MethodGet)
		return
	}
	a := newResponder(w, h.options)
	ctx, cancel, release := h.endpoint.open(r, h.ctx)
	if release == nil {
		a.busy(message{}, errBusy)
		return
	}
	defer release()
	s, err := newStream(ctx, cancel, h.Backend, eventWriter{a}, "sse", h.streamOptions())
	if err != nil {
		a.refuse(http.StatusInternalServerError, failure(nil, err))
		return
	}
	c := &sseClient{stream: s, owner: principalOf(r).Key(), ctx: ctx}
	h.clients.add(c)
	a.stays(cancel, func() {
		a.name("endpoint", MessagePath+"?"+sseID+"="+s.client.id)
		<-ctx.Done()
		h.clients.remove(c)
		c.receiving.Lock() // nothing is received any more
		defer c.receiving.Unlock()
		s.calls.close()
		s.calls.endStreams(context.Cause(ctx))
		read := make(chan struct{})
		close(read)
		_ = s.shutdown(context.Cause(ctx), read) // it logs the requests that do not end
	})
	a.end()
}

func (h sseEndpoint) streamOptions() StdioOptions {
	o := StdioOptions{Logger: h.log, MaxLine: h.options.MaxBody, Grace: h.options.Grace}
	return o.withDefaults()
}

// post receives one message of a client. The reply goes to the stream.
func (h sseEndpoint) post(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuseMethod(w, http.MethodPost)
		return
	}
	a := newResponder(w, h.options)
	c := h.clients.find(r)
	if c == nil {
		newHTTPError(http.StatusNotFound, mcp.INVALID_REQUEST, "there is no such stream, or not any more: open "+SSEPath+" again").write(a)
		return
	}
	leave, refused := h.intake.enter(r)
	if refused != nil {
		refused.write(a)
		return
	}
	defer leave() // once it is received, for which a client that reads nothing has to wait
	body, refused := h.intake.readJSON(w, r)
	if refused != nil {
		refused.write(a)
		return
	}
	c.receiving.Lock()
	defer c.receiving.Unlock()
	if c.ctx.Err() == nil {
		c.receive(c.ctx, body)
	}
	a.accept()
}

// eventWriter writes lines as events.
type eventWriter struct{ a *responder }

func (w eventWriter) Write(line []byte) (int, error) {
	w.a.send(line)
	if w.a.over() {
		return 0, errGone
	}
	return len(line), nil
}

// name sends an event of another name than message.
func (a *responder) name(event, data string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, data))
	}
}

// over reports whether the answer has ended.
func (a *responder) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended
}
