// Package rpc declares methods of MCP that mcp-go does not know, for the packages that
// implement them and the transports that serve them. Start with [Method].
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

	// Cacheable adds [TTL] and [Scope] to results for modern clients, as mcp-go's
	// lists have them.
	Cacheable bool

	// Announces says that results may announce subagents: Handle leaves no forged ones in them.
	Announces bool

	// Named is the field of params that the HTTP header Mcp-Name repeats; "" is
	// none.
	Named string
}

// The time and scope for which a list or a resource may be cached (SEP-2549): short,
// because files change at any time, and private, because they are a person's.
const (
	TTL   = 5 * time.Second
	Scope = mcp.CacheScopePrivate
)

// Skills is the name of the Skills extension. A client that declares it knows skills by
// itself.
const Skills = "io.modelcontextprotocol/skills"

// An Error is the JSON-RPC error of a request.
type Error struct {
	Code    int // of JSON-RPC or MCP, such as [mcp.INVALID_PARAMS]
	Message string
	Data    any // nil for none
}

func (e *Error) Error() string { return e.Message }

// InvalidParams returns an [*Error] of that code.
func InvalidParams(message string, data any) *Error {
	return &Error{Code: mcp.INVALID_PARAMS, Message: message, Data: data}
}

// Other is a result of another type than its method's own, as extensions have them. It is
// an error in name only, because a handler of mcp-go can return nothing else beside its
// own type.
type Other struct {
	Result any // encoded as a JSON object with its resultType
}

func (o *Other) Error() string { return "answered with another type of result" }
