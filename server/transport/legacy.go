package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// postLegacy handles a message of a client that has initialized, or is about to.
func (h *HTTP) postLegacy(a *answerer, r *http.Request, m message) {
	if version, ok := versionOf(r); !ok {
		a.refuse(http.StatusBadRequest, unsupported(m.id, version))
		return
	}
	if f := checkHints(r, m); f != nil {
		a.refuse(http.StatusBadRequest, f)
		return
	}
	if m.kind == request && m.method == string(mcp.MethodInitialize) {
		h.initialize(a, r, m)
		return
	}
	c, refused := h.client(r)
	if refused != nil {
		refused.fault.id = m.id
		refused.write(a)
		return
	}
	defer h.sessions.leave(c)
	if m.kind == request {
		h.request(a, r, c, m)
		return
	}
	h.taken(r, c, m)
	a.accept()
}

// taken handles notifications and responses, which have no answer.
func (h *HTTP) taken(r *http.Request, c *httpClient, m message) {
	if m.kind == notification {
		h.notified(r, c, m)
	} else if !c.asked.answer(m) {
		h.log.Debug("ignored a response", "id", string(m.id))
	}
}

// checkHints compares the headers of the modern protocol with a legacy message
// that has them: a gateway may go by them, whatever the version is.
func checkHints(r *http.Request, m message) *fault {
	method, name := r.Header.Get(mcp.HeaderMethod), r.Header.Get(mcp.HeaderName)
	if method != "" && method != m.method {
		return &fault{id: m.id, code: mcp.HEADER_MISMATCH, message: fmt.Sprintf("the header %s is %q, and the method is %q", mcp.HeaderMethod, method, m.method)}
	}
	is, named := mcp.ExtractHeaderName(mcp.MCPMethod(m.method), m.params)
	if sent, ok := mcp.DecodeHeaderValue(name); name != "" && named && (!ok || sent != is) {
		return &fault{id: m.id, code: mcp.HEADER_MISMATCH, message: fmt.Sprintf("the header %s is %q, and the name is %q", mcp.HeaderName, name, is)}
	}
	return nil
}

// versionOf returns the version that a request's header names, and whether it is
// spoken, or there is none.
func versionOf(r *http.Request) (version string, ok bool) {
	version = r.Header.Get(versionHeader)
	return version, version == "" || mcp.IsValidProtocolVersion(version)
}

// request answers a ping at once, and all else when there is a place.
func (h *HTTP) request(a *answerer, r *http.Request, c *httpClient, m message) {
	if m.method == string(mcp.MethodPing) {
		a.finish(http.StatusOK, h.exchange(r.Context(), c.peer, m, a.send))
		return
	}
	if line := h.memory.recall(m, c.peer); line != nil { // which takes no place
		a.finish(http.StatusOK, line)
		h.memory.recycle(line)
		return
	}
	key := c.callKey(m.id)
	p := h.replays.begin(a, c, func(cause error) { h.calls.cancel(key, cause) })
	h.streaming(a, r, c, p, func() {
		switch reply, err := h.call(r, c, p, m); {
		case err != nil:
			a.busy(m, err)
			p.end()
		case reply == nil:
			p.end()
		default:
			p.finish(reply)
		}
	})
}

// streaming calls run, which answers a request on p. It goes on when r ends, if the
// client can come back for it.
func (h *HTTP) streaming(a *answerer, r *http.Request, c *httpClient, p *replay, run func()) {
	defer a.end()
	defer context.AfterFunc(r.Context(), func() { p.drop(a) })()
	if c.ProtocolVersion() >= primed {
		defer time.AfterFunc(primeAfter, p.prime).Stop()
	}
	a.during(func(error) { go p.drop(a) }, run)
}

// call handles a request, now or when there is a place, until it or the session
// ends. The reply is nil where it was cancelled; the error says why there is no
// place.
func (h *HTTP) call(r *http.Request, client *httpClient, p *replay, m message) (reply []byte, err error) {
	c := newCall(context.WithoutCancel(r.Context()), m)
	c.key = client.callKey(m.id)
	defer c.cancel(nil)
	defer context.AfterFunc(client.ctx, func() { c.cancel(context.Cause(client.ctx)) })()
	if err := h.calls.enter(c); errors.Is(err, context.Canceled) { // by its client
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	reply = h.exchangeIn(c, client.peer, func(line []byte) {
		if h.calls.live(c) {
			p.emit(line)
		}
	})
	if !h.calls.finish(c) {
		return nil, nil
	}
	return reply, nil
}

// client returns the client that a request is of, which the caller must leave.
func (h *HTTP) client(r *http.Request) (*httpClient, *refusal) {
	if version, ok := versionOf(r); !ok {
		return nil, &refusal{http.StatusBadRequest, *unsupported(nil, version)}
	}
	if r.Header.Get(SessionHeader) == "" {
		return nil, refuse(http.StatusBadRequest, mcp.INVALID_REQUEST, "the header "+SessionHeader+" is missing: send initialize first")
	}
	c, foreign := h.sessions.enter(r)
	if foreign {
		h.options.Refused(r, "the session is another caller's")
	}
	if c == nil {
		return nil, refuse(http.StatusNotFound, mcp.INVALID_REQUEST, "there is no such session, or not any more: send initialize again")
	}
	return c, nil
}

// callKey tells a client's requests apart from those of others.
func (c *httpClient) callKey(id []byte) string { return c.id + " " + key(id) }

// initialize begins a session.
func (h *HTTP) initialize(a *answerer, r *http.Request, m message) {
	c := h.sessions.begin(principalOf(r))
	reply := h.exchange(r.Context(), c.peer, m, a.send)
	if _, failed := errorCode(m.id, reply); !failed {
		if !h.sessions.add(context.WithoutCancel(r.Context()), c) {
			a.busy(m, errBusy)
			return
		}
		a.w.Header().Set(SessionHeader, c.id)
	}
	a.finish(http.StatusOK, reply)
}

// notified takes a client's notification. A cancellation finds no other client's
// request.
func (h *HTTP) notified(r *http.Request, c *httpClient, m message) {
	if m.method != string(mcp.MethodNotificationCancelled) {
		h.notify(r.Context(), c.broadcasts, m)
		return
	}
	id, reason, ok := m.cancellation()
	found := ok && h.calls.cancel(c.callKey(id), &CancelledError{Reason: reason})
	h.log.Debug("cancellation", "id", string(id), "found", found)
}

// get opens the stream of a legacy client's notices.
func (h *HTTP) get(w http.ResponseWriter, r *http.Request) {
	a := newAnswer(w, h.options)
	if !accepts(r, "text/event-stream") {
		refuse(http.StatusNotAcceptable, mcp.INVALID_REQUEST, "the Accept header must name text/event-stream").write(a)
		return
	}
	c, refused := h.client(r)
	if refused != nil {
		refused.write(a)
		return
	}
	defer h.sessions.leave(c)
	if event := r.Header.Get("Last-Event-ID"); event != "" {
		h.resume(a, r, c, event)
		return
	}
	ctx, cancel, release := h.open(r, c.ctx)
	if release == nil {
		a.busy(message{}, errBusy)
		return
	}
	defer release()
	h.sessions.follow(c, func() { cancel(errReplaced) })
	a.open()
	a.stays(cancel, func() { a.stay(ctx, c.queue) })
}

// delete ends a session.
func (h *HTTP) delete(w http.ResponseWriter, r *http.Request) {
	c, refused := h.client(r)
	if refused != nil {
		refused.write(newAnswer(w, h.options))
		return
	}
	h.sessions.end(c, false)
	h.sessions.leave(c)
	w.WriteHeader(http.StatusNoContent)
}
