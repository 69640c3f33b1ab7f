package transport

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/replica"
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
	if home := h.home(r, m); home != "" && h.pass(a, r, m, home) {
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

// home returns the other server that has the things which a modern request names: a task, a
// call that asks, a kept sandbox or an output; "" is none.
func (h modernEndpoint) home(r *http.Request, m message) string {
	if h.options.Replicas == nil || replica.Passed(r) {
		return ""
	}
	var params struct {
		Task      string `json:"taskId"`
		State     string `json:"requestState"`
		URI       string `json:"uri"`
		Arguments struct {
			Sandbox string `json:"container_id"`
			Output  string `json:"uri"`
		} `json:"arguments"`
	}
	_ = json.Unmarshal(m.params, &params) // the rest is read, whatever one of them is
	return h.options.Replicas.Home(r.Context(), params.Task, callOf(params.State), runOf(params.URI), runOf(params.Arguments.Output), params.Arguments.Sandbox)
}

// callOf returns the ID of the call in a state, which is its first part.
func callOf(state string) string {
	id, _, _ := strings.Cut(state, ".")
	return id
}

// runOf returns the ID of the run in the URI of an output, which is its host.
func runOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "skills-mcp" {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return id
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
