package transport

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Paths at which clients expect the endpoints.
const (
	Path        = "/mcp"     // [HTTP]
	SSEPath     = "/sse"     // [HTTP.SSE]: the stream
	MessagePath = "/message" // and where its clients post
)

// For pages of other origins (CORS): the methods and headers of requests, and the
// header of answers that clients read.
const (
	Methods       = "GET, POST, DELETE"
	Headers       = "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, MCP-Protocol-Version, " + SessionHeader + ", " + ProfileHeader
	SessionHeader = "Mcp-Session-Id"
	ProfileHeader = "Skills-Profile" // names the profile of a request; see [identity.Principal]
)

const versionHeader = "MCP-Protocol-Version"

// isModernHeader reports whether a request's header names a modern version.
func isModernHeader(r *http.Request) bool {
	return mcp.IsModernProtocol(r.Header.Get(versionHeader))
}

// versionOf returns the version in a request's header. ok is false if it is not
// supported.
func versionOf(r *http.Request) (version string, ok bool) {
	version = r.Header.Get(versionHeader)
	return version, version == "" || mcp.IsValidProtocolVersion(version)
}

// repeated returns the error for a request with two of a header that has one value.
func repeated(r *http.Request) *rpcError {
	for _, name := range []string{"Authorization", "Content-Encoding", "Content-Type", mcp.HeaderMethod, mcp.HeaderName, SessionHeader, mcp.HeaderProtocolVersion, ProfileHeader, "Origin"} {
		if len(r.Header[name]) > 1 {
			code := mcp.INVALID_REQUEST
			if slices.ContainsFunc(r.Header[mcp.HeaderProtocolVersion], mcp.IsModernProtocol) {
				code = mcp.HEADER_MISMATCH
			}
			return refusal(http.StatusBadRequest, code, "the header "+name+" is there twice")
		}
	}
	return nil
}

// checkHints compares the headers of the modern protocol, if a legacy request has them,
// with its message: a gateway may use them whatever the version is.
func checkHints(r *http.Request, m message) *rpcError {
	method, name := r.Header.Get(mcp.HeaderMethod), r.Header.Get(mcp.HeaderName)
	if method != "" && method != m.method {
		return &rpcError{id: m.id, code: mcp.HEADER_MISMATCH, message: fmt.Sprintf("the header %s is %q, and the method is %q", mcp.HeaderMethod, method, m.method)}
	}
	is, named := mcp.ExtractHeaderName(mcp.MCPMethod(m.method), m.params)
	if sent, ok := mcp.DecodeHeaderValue(name); name != "" && named && (!ok || sent != is) {
		return &rpcError{id: m.id, code: mcp.HEADER_MISMATCH, message: fmt.Sprintf("the header %s is %q, and the name is %q", mcp.HeaderName, name, is)}
	}
	return nil
}

// checkHeaders compares the headers that a modern request has for gateways with its
// message (SEP-2243). named is the param that the header Mcp-Name repeats, for a
// method that mcp-go does not know.
func checkHeaders(r *http.Request, m message, named string) *rpcError {
	version := r.Header.Get(versionHeader)
	switch {
	case version == "":
		return &rpcError{id: m.id, code: mcp.HEADER_MISMATCH, message: "the header " + versionHeader + " is missing"}
	case m.version == "" && m.kind == request:
		return &rpcError{id: m.id, code: mcp.INVALID_PARAMS, message: "missing or invalid _meta field " + mcp.MetaKeyProtocolVersion}
	case m.kind == request && version != m.version:
		return versionMismatch(version, m)
	case m.kind == response:
		return nil
	}
	err := mcp.ValidateStandardHeaders(r.Header.Get, version, mcp.MCPMethod(m.method), m.params)
	if err == nil && named != "" {
		err = checkName(r.Header.Get(mcp.HeaderName), m, named)
	}
	if err != nil {
		return &rpcError{id: m.id, code: mcp.HEADER_MISMATCH, message: err.Error()}
	}
	return nil
}

func versionMismatch(header string, m message) *rpcError {
	return &rpcError{id: m.id, code: mcp.HEADER_MISMATCH, message: fmt.Sprintf("the header %s is %q, and the message says %q", versionHeader, header, m.version)}
}

// checkName compares the header Mcp-Name with a field of the params, for methods that
// mcp-go does not know. The method itself reports malformed params.
func checkName(header string, m message, field string) error {
	var params map[string]json.RawMessage
	var name string
	if json.Unmarshal(m.params, &params) != nil || json.Unmarshal(params[field], &name) != nil {
		return nil
	}
	if sent, ok := mcp.DecodeHeaderValue(header); !ok || sent != name {
		return fmt.Errorf("the header %s is %q, and %s is %q", mcp.HeaderName, header, field, name)
	}
	return nil
}

// senderOf returns the name of who sends a request, whatever the profile and the session;
// "" for those who have none of their own.
func senderOf(r *http.Request) string {
	if p := principalOf(r); p.Named() {
		return string(p.Owner())
	}
	return ""
}

// principalOf returns who sends a request.
func principalOf(r *http.Request) identity.Principal { return identity.FromContext(r.Context()) }

func refuseMethod(w http.ResponseWriter, allowed string) {
	w.Header().Set("Allow", allowed)
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
}
