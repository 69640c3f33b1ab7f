// Package rpc says what a method of MCP is that mcp-go does not know, for the
// server that has such methods and for the transports that answer them.
package rpc

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Method answers requests of one name.
type Method struct {
	// Handle answers a request with its result, which is encoded as a JSON
	// object. params is as the client sent it, and may be nil. An [*Error] is
	// answered as it is; any other error as an internal one.
	//
	// The context has the client's session, as it has in mcp-go's own handlers.
	Handle func(ctx context.Context, params json.RawMessage) (result any, err error)

	// Cacheable results tell modern clients how long they may be kept, as
	// mcp-go's lists do.
	Cacheable bool

	// Named is the field of params that the HTTP header Mcp-Name repeats; "" is
	// none.
	Named string
}

// How long and for whom a list or a resource may be kept (SEP-2549). It is short,
// because files change at any time, and private, because they are a person's.
const (
	TTL   = 5 * time.Second
	Scope = mcp.CacheScopePrivate
)

// An Error is what a request is answered with in place of a result.
type Error struct {
	Code    int // of JSON-RPC or MCP, such as [mcp.INVALID_PARAMS]
	Message string
	Data    any // nil for none
}

func (e *Error) Error() string { return e.Message }

// InvalidParams is an [*Error] of that code.
func InvalidParams(message string, data any) *Error {
	return &Error{Code: mcp.INVALID_PARAMS, Message: message, Data: data}
}

// An Other is an error in name only: it is what mcp-go's handler of a tool
// returns where the request is answered with a result of another type than its
// method's own, as extensions have them.
type Other struct {
	Result any // encoded as a JSON object with its resultType
}

func (o *Other) Error() string { return "answered with another type of result" }
