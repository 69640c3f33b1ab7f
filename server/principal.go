package server

import (
	"context"

	mcpserver "github.com/mark3labs/mcp-go/server"

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

// workspaces returns the workspaces of the client of ctx: its roots, if it has sent
// some, or else the server's.
func (s *Server) workspaces(ctx context.Context) []string {
	if own := s.roots.Of(ctx); len(own) > 0 {
		return own
	}
	return s.calls.Workspaces()
}

// call returns the fields of a request that every call of the client has.
func (s *Server) call(r *request, p *progress) run.Call {
	group, connection := share(r.ctx)
	return run.Call{
		Principal: r.principal, Group: group, Connection: connection, Workspaces: s.workspaces(r.ctx),
		Stderr: p, Progress: p.say, Warn: p.warn,
	}
}

// leave ends what belongs to an owner that has left: tasks, questions that wait,
// outputs and kept sandboxes. Principals leave with the session that they name; those
// of modern clients over HTTP name none, so what is theirs ends with its lifetime.
func (s *Server) leave(owner identity.Key) {
	s.tasks.Leave(owner)
	s.desk.Leave(owner)
	s.outputs.Forget(owner)
	s.calls.EndSessions(owner)
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
