package oauth

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// MetadataPath is the path of the metadata of the server, and begins that of each of its
// resources.
const MetadataPath = mcpserver.WellKnownProtectedResourcePath

// A Resource tells clients how they get in.
type Resource struct {
	url    string
	issuer string // "" is none: there are tokens of our own alone
	scopes map[string]identity.Scope
	silent bool // the issuer has no scopes of ours
}

// NewResource returns the resource of some options, of which it needs no issuer.
func NewResource(o Options) *Resource {
	return &Resource{url: o.URL, issuer: o.Issuer, scopes: o.Scopes, silent: len(o.Scopes) == 0 && len(o.DefaultScopes) > 0}
}

// isResource reports whether a path is one at which MCP may be served: which profiles exist
// does not count.
func isResource(path string) bool {
	rest, ok := strings.CutPrefix(path, "/mcp")
	if profile, chosen := strings.CutPrefix(rest, "/p/"); chosen {
		name, after, more := strings.Cut(profile, "/")
		return ok && name != "" && (!more || after == "readonly")
	}
	return ok && (rest == "" || rest == "/readonly") || path == "/sse"
}

// Metadata serves the metadata (RFC 9728) of the server and its resources, below
// [MetadataPath].
func (m *Resource) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, MetadataPath)
		if path != "" && !isResource(path) {
			http.NotFound(w, r)
			return
		}
		mcpserver.NewProtectedResourceMetadataHandler(mcpserver.ProtectedResourceMetadataConfig{
			Resource: m.url + escaped(path), AuthorizationServers: []string{m.issuer}, BearerMethodsSupported: []string{"header"},
			ScopesSupported: slices.DeleteFunc([]string{m.names(identity.ScopeRead), m.names(identity.ScopeRun)}, func(s string) bool { return s == "" }),
			ResourceName:    "skills-mcp",
		}).ServeHTTP(w, r)
	})
}

func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// names returns the issuer's names for a scope, or for the next wider one; "" is none.
func (m *Resource) names(scope identity.Scope) string {
	switch {
	case m.silent:
		return ""
	case len(m.scopes) == 0:
		return string(scope)
	}
	for _, one := range []identity.Scope{scope, identity.ScopeRun, identity.ScopeAdmin} {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(m.scopes)) {
			if m.scopes[name] == one && (identity.Principal{Scopes: []identity.Scope{one}}).May(scope) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// Insufficient returns the challenge of a request whose token lacks a scope.
func (m *Resource) Insufficient(r *http.Request, scope identity.Scope) string {
	return m.Challenge(r, "insufficient_scope", scope)
}

// Challenge returns the header WWW-Authenticate of the refusal of a request: with the error
// of RFC 6750, or "" for one without a token, and the scope that it needs.
func (m *Resource) Challenge(r *http.Request, failed string, scope identity.Scope) string {
	var fields []string
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, name+`="`+value+`"`)
		}
	}
	add("error", failed)
	if m.issuer != "" {
		path := ""
		if isResource(r.URL.Path) {
			path = escaped(r.URL.Path)
		}
		add("resource_metadata", m.url+MetadataPath+path)
	}
	add("scope", m.names(scope))
	return strings.TrimSuffix("Bearer "+strings.Join(fields, ", "), " ")
}
