package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/icon"
)

// identity returns all that a revision of MCP knows of a server's identity: a title since
// 2025-06-18, and icons since 2025-11-25.
func (o *Options) identity(revision string) mcp.Implementation {
	info := mcp.Implementation{Name: o.Name, Version: o.Version}
	if revision >= mcp.ProtocolVersion20250618 {
		info.Title = o.Title
	}
	if revision >= mcp.ProtocolVersion20251125 {
		info.Icons = []mcp.Icon{
			{Src: icon.SVGData(), MIMEType: "image/svg+xml", Sizes: []string{"any"}},
			{Src: icon.PNGData(), MIMEType: "image/png", Sizes: []string{"48x48"}},
		}
	}
	return info
}

// hookIdentity has the server introduce itself with title and icons once, in the replies to
// initialize and server/discover. All other results of 2026-07-28 have its name and version,
// as 1 KB of icons in each would be more than most results have.
func (o *Options) hookIdentity(hooks *mcpserver.Hooks) {
	hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, out *mcp.InitializeResult) {
		out.ServerInfo = o.identity(out.ProtocolVersion)
	})
	hooks.AddAfterDiscover(func(_ context.Context, _ any, _ *mcp.DiscoverRequest, out *mcp.DiscoverResult) {
		out.EnsureResultMeta().SetServerInfo(o.identity(mcp.ProtocolVersion20260728))
	})
}
