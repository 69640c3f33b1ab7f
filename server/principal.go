package server

import (
	"context"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// principal returns who a request acts for.
func principal(ctx context.Context) identity.Principal {
	return principalOf(mcpserver.ClientSessionFromContext(ctx))
}

// owner returns the key of whom slots are counted for, and of whom tasks, outputs
// and kept sandboxes belong to.
func owner(ctx context.Context) identity.Key { return principal(ctx).Key() }

// principalOf returns whom the client of a session acts for. A transport whose
// clients have several sessions, such as one for each request, gives them a method
// Principal that returns the same for all of one client's.
func principalOf(session mcpserver.ClientSession) identity.Principal {
	switch s := session.(type) {
	case nil:
		return identity.Principal{}
	case interface{ Principal() identity.Principal }:
		return s.Principal()
	}
	return identity.Principal{Session: session.SessionID()}
}

// share tells the client of ctx apart from others of its principal, for its turns at
// slots. A transport that has several gives its sessions a method Share.
func share(ctx context.Context) (group, connection string) {
	if s, ok := mcpserver.ClientSessionFromContext(ctx).(interface {
		Share() (group, connection string)
	}); ok {
		return s.Share()
	}
	return "", ""
}
