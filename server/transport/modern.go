package transport

import (
	"context"
	"net"
	"net/http"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
)

// modernEndpoint serves clients of the modern protocol.
type modernEndpoint struct{ *endpoint }

// post handles a message of the modern protocol: each has a session of its own, and the
// end of its stream cancels it.
func (h modernEndpoint) post(a *responder, r *http.Request, m message) {
	if f := checkHeaders(r, m, h.Methods[m.method].Named); f != nil {
		a.refuse(f)
		return
	}
	switch m.kind {
	case notification:
		// A cancellation too: over HTTP the end of the stream is one, and an id
		// may be another client's.
		a.accept()
		return
	case response:
		a.refuse(invalid(m.id, "the server asks nothing of a modern client"))
		return
	}
	id := httpKind + "-modern-" + strconv.FormatInt(moderns.Add(1), 10)
	p := newModernPeer(id, principalOf(r))
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	p.group, p.conn = host+" "+m.client, r.RemoteAddr
	if m.method == string(mcp.MethodSubscriptionsListen) {
		h.subscribe(a, r, p, m)
		return
	}
	h.answer(a, r, h.ctx, p, m, id)
}

// subscribe serves subscriptions/listen, whose stream is the answer.
func (h modernEndpoint) subscribe(a *responder, r *http.Request, p *peer, m message) {
	h.stream(a, r, h.ctx, m, func(ctx context.Context, cancel context.CancelCauseFunc) {
		queue := newNotices(h.log)
		over := make(chan []byte, 1)
		go func() { over <- h.listen(ctx, p, m, queue.announce) }()
		a.during(cancel, func() {
			reply := a.follow(context.Background(), queue, over)
			a.finish(statusOf(m, reply), reply)
		})
	})
}
