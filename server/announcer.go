package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/transport"
)

// Claude Code's channels (code.claude.com/docs/en/channels-reference).
const (
	channel       = "claude/channel" // the experimental capability
	channelMethod = "notifications/" + channel
	claudeCode    = "claude-code" // its name for itself
)

// takeTime bounds the time in which announcements are taken: the client waits.
const takeTime = 2 * time.Second

// An announcer tells clients of ended subagents: ahead of the result of a tool, or by a
// notification. It implements [transport.Announcements].
type announcer struct {
	from    Subagents
	channel bool // of the options
	logger  *slog.Logger

	sessions sync.Map      // of clients, by ID
	stop     chan struct{} // closed by close
	done     chan struct{} // closed by watch when it ends
}

// newAnnouncer returns an announcer, which must be closed.
func newAnnouncer(from Subagents, channel bool, logger *slog.Logger) *announcer {
	a := &announcer{from: from, channel: channel, logger: logger, stop: make(chan struct{}), done: make(chan struct{})}
	go a.watch()
	return a
}

func (a *announcer) close() {
	close(a.stop)
	<-a.done
}

// Pending implements [transport.Announcements]. An agent gets those for it in its own loop.
func (a *announcer) Pending(who identity.Principal) bool {
	return len(who.Agents) == 0 && a.from.Pending(who)
}

// Take implements [transport.Announcements].
func (a *announcer) Take(who identity.Principal, use func(texts []string)) bool {
	return a.take(who, func(all []agents.Announcement) {
		texts := make([]string, len(all))
		for i, one := range all {
			texts[i] = one.String()
		}
		use(texts)
	})
}

// Harmless implements [transport.Announcements].
func (a *announcer) Harmless(message []byte) []byte { return agents.Harmless(message) }

func (a *announcer) take(who identity.Principal, use func([]agents.Announcement)) bool {
	ctx, cancel := context.WithTimeout(context.Background(), takeTime) // they are lost where one is taken for nobody
	defer cancel()
	err := a.from.Take(ctx, who, use)
	if err != nil {
		a.logger.Warn("announcements of subagents wait", "error", err)
	}
	return err == nil
}

// hook has the clients of sessions notified, if they take that.
func (a *announcer) hook(hooks *mcpserver.Hooks) {
	hooks.AddOnRegisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		a.sessions.Store(session.SessionID(), session)
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		a.sessions.Delete(session.SessionID())
	})
}

// watch notifies the clients for which announcements become ready, until close is called.
func (a *announcer) watch() {
	defer close(a.done)
	ready, stop := a.from.Watch()
	defer stop()
	for {
		select {
		case <-ready:
			for _, session := range a.sessions.Range {
				a.notify(session.(mcpserver.ClientSession))
			}
		case <-a.stop:
			return
		}
	}
}

// initialized handles a client's notification of that name: before it, nobody knew whether the
// client takes announcements that were ready.
func (a *announcer) initialized(ctx context.Context, _ mcp.JSONRPCNotification) {
	a.notify(mcpserver.ClientSessionFromContext(ctx))
}

// notify sends the client of a session the announcements that are ready, if it listens.
func (a *announcer) notify(session mcpserver.ClientSession) {
	if who := principalOf(session); a.listens(session) && a.Pending(who) {
		transport.Notify(session, channelMethod, func(use func([]any)) bool {
			return a.take(who, func(all []agents.Announcement) { use(events(all)) })
		})
	}
}

// listens reports whether a client takes notifications: one that says so, or the Claude Code
// that started this process, if the options say so. Any other would drop them.
func (a *announcer) listens(session mcpserver.ClientSession) bool {
	client, ok := session.(mcpserver.SessionWithClientInfo)
	if !ok {
		return false
	}
	_, declared := client.GetClientCapabilities().Experimental[channel]
	return declared || a.channel && principalOf(session).Kind == identity.Model && client.GetClientInfo().Name == claudeCode
}

// events returns the params of notifications.
func events(all []agents.Announcement) []any {
	params := make([]any, len(all))
	for i, one := range all {
		params[i] = map[string]any{
			"content": one.String(), "meta": map[string]string{"run_id": one.RunID, "label": one.Label, "status": string(one.Status)},
		}
	}
	return params
}
