package transport

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// HTTP serves MCP over Streamable HTTP: as a handler it is the endpoint. Requests act
// for the principal of their context. It must be closed.
//
// It bounds how long clients take for their messages and for answers; the server that
// it is mounted in has to bound how long they take for what is not read here (see
// [http.Server]'s ReadTimeout and WriteTimeout).
type HTTP struct {
	*endpoint
	modern modernEndpoint
	legacy legacyEndpoint
	sse    sseEndpoint
}

// NewHTTP returns a handler that serves b. options may be nil.
func NewHTTP(b Backend, options *Options) *HTTP {
	return newHTTP(newEndpoint(b, options.withDefaults(httpBounds())))
}

// Beside returns a handler that serves another backend within the same bounds, until it or
// h is closed. It must be closed, too: that ends its own requests, streams and sessions. No
// session of one is known to the other.
func (h *HTTP) Beside(b Backend) *HTTP {
	e := &endpoint{edge: newEdge(b, h.options), options: h.options, intake: h.intake, calls: h.calls, drain: h.drain, beside: true}
	e.ctx, e.stop = context.WithCancelCause(h.ctx)
	return newHTTP(e)
}

func newHTTP(e *endpoint) *HTTP {
	legacy := &sessions{edge: &e.edge, replicas: e.options.Replicas, ctx: e.ctx, idle: e.options.bounds.idle, most: e.options.bounds.sessions, byID: map[string]*httpClient{}}
	return &HTTP{e, modernEndpoint{e}, legacyEndpoint{e, legacy}, sseEndpoint{e, &sync.Map{}}}
}

// ServeHTTP is the endpoint of Streamable HTTP.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.unrepeated(h.streamable)(w, r) }

// SSE returns the endpoints of the deprecated transport, HTTP with server-sent
// events: where clients open a stream, and where they post.
func (h *HTTP) SSE() (stream, messages http.Handler) {
	return h.unrepeated(h.sse.open), h.unrepeated(h.sse.post)
}

// unrepeated returns a handler that refuses requests with two of a header that has one
// value: a gateway in front of the server may have used the other.
func (h *HTTP) unrepeated(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if refused := repeated(r); refused != nil {
			h.options.Refused(r, refused.message)
			newResponder(w, h.options).refuse(refused)
			return
		}
		handle(w, r)
	}
}

func (h *HTTP) streamable(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r)
	case !h.permit(newResponder(w, h.options), r, message{kind: notification}):
	case isModernHeader(r): // POST is all there is
		refuseMethod(w, http.MethodPost)
	case r.Method == http.MethodGet:
		h.legacy.get(w, r)
	case r.Method == http.MethodDelete:
		h.legacy.delete(w, r)
	default:
		refuseMethod(w, "GET, POST, DELETE")
	}
}

// Drain refuses further calls of tools with status 503, and returns when those under way are
// answered, or ctx has ended, in the handlers of [HTTP.Beside] too. Calls over [HTTP.SSE] are
// not waited for.
func (h *HTTP) Drain(ctx context.Context) { h.drain.wait(ctx) }

// Close ends all requests, streams and sessions, and waits for them. It returns
// [ErrAbandoned] if a handler ignores its context. New requests are refused.
func (h *HTTP) Close() error {
	h.stop(errShutdown)
	if h.beside {
		within(max(h.options.bounds.grace, released), h.legacy.sessions.close())
		return nil
	}
	h.calls.close()
	h.calls.endStreams(errShutdown)
	end := time.Now().Add(h.options.bounds.grace)
	idle := within(h.options.bounds.grace, h.calls.idle)
	gone := within(max(time.Until(end), released), h.legacy.sessions.close())
	if !idle || !gone {
		h.log.Warn("stopped while requests were still running", "requests", h.calls.count())
		return ErrAbandoned
	}
	return nil
}

// post handles one message of a client.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	a := newResponder(w, h.options)
	body, refused := h.intake.read(w, r)
	if refused != nil {
		a.refuse(refused)
		return
	}
	m, f := parse(body)
	switch version := r.Header.Get(versionHeader); {
	case f != nil && version != "" && m.version != "" && version != m.version:
		a.refuse(versionMismatch(version, m))
	case f != nil:
		a.refuse(f)
	case !h.permit(a, r, m):
	case m.modern || isModernHeader(r):
		h.modern.post(a, r, m)
	default:
		h.legacy.post(a, r, m)
	}
}
