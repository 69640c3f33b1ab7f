package server

import "net/http"

// forwardedName is the header field with the name of a forwarded call.
const forwardedName = "Forwarded-Name"

// forward makes mcp-go call the handler that is registered under another name, and
// passes the name that was called in the request's header. mcp-go finds the handler of a
// tool or a prompt by its name alone, and its hooks can change the request, but not the
// context: the header is the only part of a request that no other code uses.
func forward(header *http.Header, name *string, to string) {
	*header = http.Header{forwardedName: {*name}}
	*name = to
}

// forwarded returns the name of a forwarded call.
func forwarded(header http.Header) string { return header.Get(forwardedName) }
