package transport

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// postLegacy handles a message of a client that has initialized, or is about to.
func (h *HTTP) postLegacy(a *answerer, r *http.Request, m message) {
	if version, ok := versionOf(r); !ok {
		a.refuse(http.StatusBadRequest, unsupported(m.id, version))
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
	switch m.kind {
	case notification:
		h.notified(r, c, m)
		a.accept()
	case response:
		if !c.asked.answer(m) {
			h.log.Debug("ignored a response", "id", string(m.id))
		}
		a.accept()
	default:
		h.request(a, r, c, m)
	}
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
	h.run(a, r, c.ctx, c.peer, m, c.callKey(m.id))
}

// client returns the client that a request is of, which the caller must leave.
func (h *HTTP) client(r *http.Request) (*httpClient, *refusal) {
	if version, ok := versionOf(r); !ok {
		return nil, &refusal{http.StatusBadRequest, *unsupported(nil, version)}
	}
	if r.Header.Get(sessionHeader) == "" {
		return nil, refuse(http.StatusBadRequest, mcp.INVALID_REQUEST, "the header "+sessionHeader+" is missing: send initialize first")
	}
	c, foreign := h.sessions.enter(r)
	if foreign {
		h.refused.note(r, "the session is another caller's")
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
	c := h.sessions.begin(callerOf(r))
	reply := h.exchange(r.Context(), c.peer, m, a.send)
	if _, failed := errorCode(m.id, reply); !failed {
		if !h.sessions.add(context.WithoutCancel(r.Context()), c) {
			a.busy(m, errBusy)
			return
		}
		a.w.Header().Set(sessionHeader, c.id)
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
