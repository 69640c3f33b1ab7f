package transport

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/replica"
)

// legacyEndpoint serves clients that initialize. They have sessions and a stream of
// notices.
type legacyEndpoint struct {
	*endpoint
	sessions *sessions
}

// post handles a message of a client that has initialized, or initialize itself.
func (h legacyEndpoint) post(a *responder, r *http.Request, m message) {
	if version, ok := versionOf(r); !ok {
		a.refuse(unsupported(m.id, version))
		return
	}
	if f := checkHints(r, m); f != nil {
		a.refuse(f)
		return
	}
	if m.kind == request && m.method == string(mcp.MethodInitialize) {
		h.initialize(a, r, m)
		return
	}
	h.as(a, r, m, func(c *httpClient) {
		if m.kind == request {
			h.request(a, r, c, m)
			return
		}
		h.dispatch(r.Context(), c.broadcasts, m, h.calls, c.callKey)
		a.accept()
	})
}

// request handles a ping at once, and any other request when there is a slot.
func (h legacyEndpoint) request(a *responder, r *http.Request, c *httpClient, m message) {
	if m.method == string(mcp.MethodPing) {
		a.finish(http.StatusOK, h.exchange(r.Context(), c.peer, m, a.send))
		return
	}
	h.answer(a, r, c.ctx, c.peer, m, c.callKey(m.id))
}

// as calls serve with the client of a request, or answers that there is none.
func (h legacyEndpoint) as(a *responder, r *http.Request, m message, serve func(*httpClient)) {
	c, f := h.client(r)
	if f != nil && f.status == http.StatusNotFound {
		passed := false
		if c, passed = h.elsewhere(a, r, m); passed {
			return
		}
	}
	if c == nil {
		f.id = m.id
		a.refuse(f)
		return
	}
	defer h.sessions.leave(c)
	serve(c)
}

// client returns the client of a request. The caller must leave its session.
func (h legacyEndpoint) client(r *http.Request) (*httpClient, *rpcError) {
	if version, ok := versionOf(r); !ok {
		return nil, unsupported(nil, version)
	}
	if r.Header.Get(SessionHeader) == "" {
		return nil, refusal(http.StatusBadRequest, mcp.INVALID_REQUEST, "the header "+SessionHeader+" is missing: send initialize first")
	}
	c, foreign := h.sessions.enter(r)
	if foreign {
		h.options.Refused(r, "the session is another caller's")
	}
	if c == nil {
		return nil, refusal(http.StatusNotFound, mcp.INVALID_REQUEST, "there is no such session, or not any more: send initialize again")
	}
	return c, nil
}

// elsewhere finds the session of a request among those of other servers: it has the other
// server answer, or resumes the session if that server has ended. Without both, c is nil.
func (h legacyEndpoint) elsewhere(a *responder, r *http.Request, m message) (c *httpClient, passed bool) {
	id, all := r.Header.Get(SessionHeader), h.sessions.replicas
	if all == nil || replica.Passed(r) {
		return nil, false
	}
	home := all.Home(r.Context(), id)
	for range 3 { // another one may have taken the session over
		if home != "" && h.pass(a, r, m, home) {
			return nil, true
		}
		if c, home = h.sessions.take(r, id, home); home == "" {
			return c, false
		}
	}
	return nil, false
}

// initialize begins a session.
func (h legacyEndpoint) initialize(a *responder, r *http.Request, m message) {
	c := h.sessions.begin(r, h.sessions.replicas.Name(httpKind+"-"+rand.Text()))
	reply := h.exchange(r.Context(), c.peer, m, a.send)
	if _, failed := errorCode(m.id, reply); !failed {
		if !h.sessions.add(context.WithoutCancel(r.Context()), c) {
			a.busy(m, errBusy)
			return
		}
		h.sessions.keep(r.Context(), c)
		a.w.Header().Set(SessionHeader, c.id)
	}
	a.finish(http.StatusOK, reply)
}

// get opens the stream of a legacy client's notices.
func (h legacyEndpoint) get(w http.ResponseWriter, r *http.Request) {
	a := newResponder(w, h.options)
	h.as(a, r, message{}, func(c *httpClient) {
		h.stream(a, r, c.ctx, message{}, func(ctx context.Context, cancel context.CancelCauseFunc) {
			h.sessions.follow(c, func() { cancel(errReplaced) })
			a.open()
			a.stays(cancel, func() { a.follow(ctx, c.queue, nil) })
			a.end()
		})
	})
}

// delete ends a session.
func (h legacyEndpoint) delete(w http.ResponseWriter, r *http.Request) {
	h.as(newResponder(w, h.options), r, message{}, func(c *httpClient) {
		h.sessions.end(c, false)
		w.WriteHeader(http.StatusNoContent)
	})
}
