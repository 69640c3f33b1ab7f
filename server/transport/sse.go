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
	clients *sync.Map // of *sseClient by id: those whose stream is open
}

type sseClient struct {
	stream    *stream
	owner     identity.Key
	ctx       context.Context // of the stream
	receiving sync.Mutex      // one message at a time, as from a read loop
}

// find returns the client of a message, or nil.
func (h sseEndpoint) find(r *http.Request) *sseClient {
	found, _ := h.clients.Load(r.URL.Query().Get(sseID))
	if c, ok := found.(*sseClient); ok && c.owner == principalOf(r).Key() {
		return c
	}
	return nil
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
	if !h.permit(a, r, message{kind: notification}) {
		return
	}
	h.stream(a, r, h.ctx, message{}, func(ctx context.Context, cancel context.CancelCauseFunc) {
		s, err := newStream(ctx, cancel, h.Backend, eventWriter{a}, "sse", h.streamOptions())
		if err != nil {
			a.finish(http.StatusInternalServerError, failure(nil, err).encode())
			return
		}
		c := &sseClient{stream: s, owner: principalOf(r).Key(), ctx: ctx}
		h.clients.Store(s.client.id, c)
		a.stays(cancel, func() {
			a.name("endpoint", MessagePath+"?"+sseID+"="+s.client.id)
			<-ctx.Done()
			h.clients.Delete(s.client.id)
			c.close()
		})
		a.end()
	})
}

// close ends the client's requests, after the end of its stream.
func (c *sseClient) close() {
	c.receiving.Lock() // nothing is received any more
	defer c.receiving.Unlock()
	c.stream.calls.close()
	c.stream.calls.endStreams(context.Cause(c.ctx))
	read := make(chan struct{})
	close(read)
	_ = c.stream.shutdown(context.Cause(c.ctx), read) // it logs the requests that do not end
}

func (h sseEndpoint) streamOptions() Options {
	o := Options{Logger: h.log, Observer: h.options.Observer, bounds: bounds{message: h.options.bounds.message, grace: h.options.bounds.grace}}
	return o.withDefaults(stdioBounds())
}

// post receives one message of a client. The reply goes to the stream.
func (h sseEndpoint) post(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuseMethod(w, http.MethodPost)
		return
	}
	a := newResponder(w, h.options)
	c := h.find(r)
	if c == nil {
		a.refuse(refusal(http.StatusNotFound, mcp.INVALID_REQUEST, "there is no such stream, or not any more: open "+SSEPath+" again"))
		return
	}
	leave, refused := h.intake.enter(r)
	if refused != nil {
		a.refuse(refused)
		return
	}
	defer leave() // once it is received, for which a client that reads nothing has to wait
	body, refused := h.intake.readJSON(w, r)
	if refused != nil {
		a.refuse(refused)
		return
	}
	if m, malformed := parse(body); malformed == nil && !h.permit(a, r, m) {
		return
	}
	c.receiving.Lock()
	defer c.receiving.Unlock()
	if c.ctx.Err() == nil {
		c.stream.receive(c.ctx, body)
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
