package transport

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// A Backend is what the transports serve. Only Core is required.
type Backend struct {
	// Core is mcp-go's server, with [OnError] among its hooks.
	Core *mcpserver.MCPServer

	// Info is what the server calls itself.
	Info mcp.Implementation

	// Methods are those that mcp-go does not know, by name.
	Methods map[string]rpc.Method

	// Listen is asked at each subscriptions/listen for notices that mcp-go does not
	// know; nil has none. params are those of the request. agreed is said by the
	// acknowledgement, beside what mcp-go agrees to. send takes a notice, also
	// before Listen returns; it does not wait for the client, and does nothing once
	// the subscription has ended, when stop is called. An error is answered as one
	// of a [rpc.Method].
	Listen func(ctx context.Context, params json.RawMessage, send func(method string, params map[string]any)) (agreed map[string]any, stop func(), err error)

	// State numbers the states of the server's tools: it differs after each
	// change, and is odd while one is under way. Where it is set, the answer to
	// tools/list is encoded once for each state. It must not block.
	State func() uint64
}

func (b Backend) edge(log *slog.Logger) edge {
	return edge{Backend: b, log: log, memory: &memory{state: b.State}}
}
