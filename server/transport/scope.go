package transport

import (
	"encoding/json"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// permit reports whether the token of a request has the scope of its message, or else
// refuses it with a challenge: the protocol wants an answer of HTTP, whatever the message
// is.
func (e *endpoint) permit(a *responder, r *http.Request, m message) bool {
	lacks := identity.Lacks(r.Context(), e.scopeOf(m))
	if lacks == nil {
		return true
	}
	e.options.Refused(r, lacks.Reason)
	a.w.Header().Set("WWW-Authenticate", lacks.Authenticate)
	f := refusal(lacks.Status, mcp.INVALID_REQUEST, lacks.Message)
	f.id = m.id
	a.refuse(f)
	return false
}

// scopeOf returns the scope that a message needs. An answer to the server may be that to a
// question about a call.
func (e *edge) scopeOf(m message) identity.Scope {
	switch {
	case m.kind == response:
		return identity.ScopeRun
	case m.kind == notification || e.Scope == nil:
		return identity.ScopeRead
	}
	var params struct{ Name, URI string }
	_ = json.Unmarshal(m.params, &params) // the method itself refuses others
	return e.Scope(m.method, params.Name, params.URI)
}
