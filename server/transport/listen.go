package transport

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// A listener is the session of one subscriptions/listen, by which alone change notices
// reach a modern client. It gets the notices of its filter, after the acknowledgement.
type listener struct {
	*session

	mu     sync.Mutex // guards filter
	filter mcp.SubscriptionFilter
}

var _ mcpserver.SessionWithSubscriptionFilter = (*listener)(nil)

func (l *listener) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filter = f
}

// SubscriptionFilter returns the filter. It is active even before it is set: a client
// gets nothing that it has not asked for.
func (l *listener) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.filter, true
}

// listen serves subscriptions/listen until ctx is done, and returns its reply as
// a line. announce gets the acknowledgement and then the notices; it must not
// block, as mcp-go's broadcasts wait for it.
func (e *edge) listen(ctx context.Context, p *peer, m message, announce func(notice)) []byte {
	e.await(ctx, m.method)
	h := &subscriptionFeed{id: m.id, announce: announce, encode: e.encodeNotification}
	box := newMailbox(ctx, h.deliver)
	defer box.close()
	l := &listener{session: &session{peer: p, mailbox: box}}
	if err := e.Core.RegisterSession(ctx, l); err != nil {
		return failure(m.id, err).encode()
	}
	defer e.Core.UnregisterSession(context.WithoutCancel(ctx), p.SessionID())
	defer e.recovered(m.method, func() {})
	reply := e.Core.HandleMessage(e.Core.WithContext(ctx, l), m.raw)
	line, err := encodeReply(m.id, withSubscription(reply, m.id))
	return e.encoded(m, line, err)
}

// withSubscription returns a subscription's result with its id as the client sent it.
func withSubscription(reply mcp.JSONRPCMessage, id json.RawMessage) mcp.JSONRPCMessage {
	r, ok := reply.(mcp.JSONRPCResponse)
	if !ok {
		return reply
	}
	result, ok := r.Result.(mcp.SubscriptionsListenResult)
	if !ok {
		return reply
	}
	result.EnsureResultMeta().SetSubscriptionID(id)
	r.Result = result
	return r
}

// A subscriptionFeed announces notices, each with the id of the subscription, after the
// acknowledgement. Only the goroutine of its mailbox uses it.
type subscriptionFeed struct {
	id       json.RawMessage
	announce func(notice)
	encode   func(mcp.JSONRPCNotification) (line []byte, ok bool)
	open     bool
	held     []notice
}

// maxHeld is the number of notices that wait for the acknowledgement, which mcp-go sends
// at once.
const maxHeld = 64

func (h *subscriptionFeed) deliver(n mcp.JSONRPCNotification) {
	h.tag(&n)
	line, ok := h.encode(n)
	if !ok {
		return
	}
	next := notice{method: n.Method, line: line}
	switch {
	case h.open:
		h.announce(next)
	case n.Method == mcp.MethodNotificationSubscriptionsAcknowledged:
		h.announce(next)
		for _, waiting := range h.held {
			h.announce(waiting)
		}
		h.open, h.held = true, nil
	case len(h.held) < maxHeld:
		h.held = append(h.held, next)
	}
}

// tag adds the id of the subscription to a notice. It copies the map, as other sessions
// share the notice.
func (h *subscriptionFeed) tag(n *mcp.JSONRPCNotification) {
	meta := map[string]any{}
	for key, value := range n.Params.Meta {
		meta[key] = value
	}
	meta[mcp.MetaKeySubscriptionID] = h.id
	n.Params.Meta = meta
}
