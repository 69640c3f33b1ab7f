package server

import (
	"context"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/transport"
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

// tenant returns the client of ctx for the sandbox: slots are counted for it. A
// transport that has several clients of one principal gives its sessions a method
// Share, which tells them apart.
func tenant(ctx context.Context) sandbox.Tenant {
	t := sandbox.Tenant{ID: string(owner(ctx))}
	if s, ok := mcpserver.ClientSessionFromContext(ctx).(interface {
		Share() (group, connection string)
	}); ok {
		t.Group, t.Connection = s.Share()
	}
	return t
}

// callsOf returns the executor for the client of ctx: its workspaces, if it sent
// roots, before the server's.
func (s *Server) callsOf(ctx context.Context) *run.Executor {
	if own := s.roots.Of(ctx); len(own) > 0 {
		return s.calls.Seeing(own)
	}
	return s.calls
}

// leave ends what belongs to an owner that has left: tasks, questions that wait,
// outputs and kept sandboxes. Principals leave with the session that they name; those
// of modern clients over HTTP name none, so what is theirs ends with its lifetime.
func (s *Server) leave(owner identity.Key) {
	s.tasks.Leave(owner)
	s.desk.Leave(owner)
	s.outputs.Forget(owner)
	s.calls.Leave(string(owner))
}

// hooks notice sessions, what they subscribe to, and errors that say what to
// answer; and they fill in lists.
func (s *Server) hooks() *mcpserver.Hooks {
	hooks := &mcpserver.Hooks{}
	hooks.AddOnError(transport.OnError)
	s.hookLists(hooks)
	s.hookTools(hooks)
	s.roots.Hook(hooks)
	s.subscriptions.hook(hooks, func() *skillsext.Library { return s.view.Load().library })
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		if p := principalOf(session); p.Session == session.SessionID() {
			s.leave(p.Key())
		}
	})
	return hooks
}
