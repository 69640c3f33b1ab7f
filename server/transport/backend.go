package transport

import (
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

	// State numbers the states of the server's tools: it differs after each
	// change, and is odd while one is under way. Where it is set, the answer to
	// tools/list is encoded once for each state. It must not block.
	State func() uint64

	// Leave is told the caller of a client that is gone for good, where that
	// client is not a session of Core. It must not block.
	Leave func(caller string)
}

func (b Backend) edge(log *slog.Logger) edge {
	return edge{Backend: b, log: log, memory: &memory{state: b.State}}
}
