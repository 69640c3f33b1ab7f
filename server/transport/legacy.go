package transport

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// legacyEndpoint serves clients that initialize. They have sessions and a stream of
// notices, and may resume the stream of a call.
type legacyEndpoint struct {
	*endpoint
	sessions *sessions
	replays  *replays
}

func newLegacyEndpoint(e *endpoint) legacyEndpoint {
	r := newReplays(e.options.Resume)
	return legacyEndpoint{e, newSessions(e, r.forgetSession), r}
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
	if line := h.lists.lookup(m, c.peer); line != nil { // which takes no slot
		a.finish(http.StatusOK, line)
		h.lists.recycle(line)
		return
	}
	key := c.callKey(m.id)
	p := h.replays.begin(c.ctx, c.id, a, func(cause error) { h.calls.cancel(key, cause) })
	h.resumable(a, r, c, p, func() {
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

// resumable calls run, which answers a request on p. It goes on after r has ended, if
// the client can resume p.
func (h legacyEndpoint) resumable(a *responder, r *http.Request, c *httpClient, p *replay, run func()) {
	defer a.end()
	defer context.AfterFunc(r.Context(), func() { p.drop(a) })()
	if c.ProtocolVersion() >= primed {
		defer time.AfterFunc(primeAfter, p.prime).Stop()
	}
	a.during(func(error) { go p.drop(a) }, run)
}

// call handles a request when there is a slot, until it or the session ends. The reply
// is nil if it was cancelled; the error says why there is no slot.
func (h legacyEndpoint) call(r *http.Request, client *httpClient, p *replay, m message) (reply []byte, err error) {
	c := newCall(context.WithoutCancel(r.Context()), m, client.callKey(m.id))
	defer c.cancel(nil)
	defer context.AfterFunc(client.ctx, func() { c.cancel(context.Cause(client.ctx)) })()
	return h.do(c, client.peer, p.emit)
}

// as calls serve with the client of a request, or answers that there is none.
func (h legacyEndpoint) as(a *responder, r *http.Request, m message, serve func(*httpClient)) {
	c, f := h.client(r)
	if f != nil {
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

// initialize begins a session.
func (h legacyEndpoint) initialize(a *responder, r *http.Request, m message) {
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

// get opens the stream of a legacy client's notices.
func (h legacyEndpoint) get(w http.ResponseWriter, r *http.Request) {
	a := newResponder(w, h.options)
	if !accepts(r, "text/event-stream") {
		a.refuse(refusal(http.StatusNotAcceptable, mcp.INVALID_REQUEST, "the Accept header must name text/event-stream"))
		return
	}
	h.as(a, r, message{}, func(c *httpClient) {
		if event := r.Header.Get("Last-Event-ID"); event != "" {
			h.resume(a, r, c, event)
			return
		}
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

// batch handles a batch of a client that has initialized. The replies are sent one by
// one, as a stream.
func (h legacyEndpoint) batch(a *responder, r *http.Request, body []byte) {
	h.as(a, r, message{}, func(c *httpClient) {
		all, f := parts(body, c.ProtocolVersion())
		if f == nil {
			f = checkHints(r, message{}) // no header is that of all messages
		}
		if f != nil {
			a.refuse(f)
			return
		}
		requests, faults := h.split(r, c, all)
		if len(requests)+len(faults) == 0 {
			a.accept()
			return
		}
		h.answerAll(a, r, c, requests, faults)
	})
}

// answerAll answers the requests of a batch, and the errors of its other messages.
func (h legacyEndpoint) answerAll(a *responder, r *http.Request, c *httpClient, requests []message, faults []*rpcError) {
	p := h.replays.begin(c.ctx, c.id, a, func(cause error) {
		for _, m := range requests {
			h.calls.cancel(c.callKey(m.id), cause)
		}
	})
	h.resumable(a, r, c, p, func() {
		for _, f := range faults {
			p.emit(f.encode())
		}
		h.callAll(r, c, p, requests)
		p.end()
	})
}

// split returns the requests of a batch, and the errors of the messages that are not
// valid. It handles all other messages.
func (h legacyEndpoint) split(r *http.Request, c *httpClient, parts []json.RawMessage) (requests []message, faults []*rpcError) {
	for _, part := range parts {
		m, f := parsePart(part)
		switch {
		case f != nil:
			faults = append(faults, f)
		case m.kind == request:
			requests = append(requests, m)
		default:
			h.dispatch(r.Context(), c.broadcasts, m, h.calls, c.callKey)
		}
	}
	return requests, faults
}

// callAll handles requests at the same time, sends each reply on p, and waits for all.
func (h legacyEndpoint) callAll(r *http.Request, c *httpClient, p *replay, requests []message) {
	var running sync.WaitGroup
	for _, m := range requests {
		running.Go(func() {
			reply, err := h.call(r, c, p, m)
			if err != nil {
				reply = refused(m, err).encode()
			}
			if reply != nil {
				p.emit(reply)
			}
		})
	}
	running.Wait()
}

// resume continues a stream whose connection the client has lost.
func (h legacyEndpoint) resume(a *responder, r *http.Request, c *httpClient, event string) {
	p, after := h.replays.find(c.id, event)
	if p == nil {
		a.refuse(&rpcError{code: mcp.INVALID_REQUEST, message: "there is nothing to resume after this Last-Event-ID: it is too long ago, or never was"})
		return
	}
	h.stream(a, r, c.ctx, message{}, func(ctx context.Context, cancel context.CancelCauseFunc) {
		if !p.attach(a, after) {
			a.w.WriteHeader(http.StatusNoContent) // which ends a client's coming back
			return
		}
		a.stays(cancel, func() {
			select {
			case <-p.done:
			case <-ctx.Done():
				p.drop(a)
			}
			a.end()
		})
	})
}
