package server

import (
	"context"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/transport"
)

// caller names who slots are counted for and kept sandboxes belong to.
func caller(ctx context.Context) string {
	return callerOf(mcpserver.ClientSessionFromContext(ctx))
}

// callerOf names the client that a session is of. A transport whose clients
// have several sessions, such as one for each request, gives them a method
// Caller that returns the same for all of one client's.
func callerOf(session mcpserver.ClientSession) string {
	switch s := session.(type) {
	case nil:
		return ""
	case interface{ Caller() string }:
		return s.Caller()
	}
	return session.SessionID()
}

// share says which of a caller's clients ctx is of, where a transport has several
// for one: a method Share of its sessions tells.
func share(ctx context.Context) sandbox.Share {
	if s, ok := mcpserver.ClientSessionFromContext(ctx).(interface {
		Share() (group, connection string)
	}); ok {
		group, connection := s.Share()
		return sandbox.Share{Group: group, Connection: connection}
	}
	return sandbox.Share{}
}

// callsOf is what calls of the client that ctx is of are made with. Its own roots,
// where some may be workspaces, go before the server's.
func (s *Server) callsOf(ctx context.Context) *run.Executor {
	if own := s.roots.Of(ctx); len(own) > 0 {
		return s.calls.Seeing(own)
	}
	return s.calls
}

// leave ends what belongs to a caller who has left: tasks, questions that wait,
// outputs and kept sandboxes. A caller leaves with the session of its name; that
// of modern clients over HTTP has none, so what is theirs ends with its lifetime.
func (s *Server) leave(caller string) {
	s.tasks.Leave(caller)
	s.desk.Leave(caller)
	s.outputs.Forget(caller)
	s.calls.Leave(caller)
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
		if id := session.SessionID(); callerOf(session) == id {
			s.leave(id)
		}
	})
	return hooks
}
