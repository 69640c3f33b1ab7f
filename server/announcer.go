package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

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

	life    context.Context // of the watches; ended by close
	stop    context.CancelFunc
	watches sync.WaitGroup // close waits for it
	ends    sync.Map       // the functions that end the watches, by the ID of the session
}

// newAnnouncer returns an announcer, which must be closed.
func newAnnouncer(from Subagents, channel bool, logger *slog.Logger) *announcer {
	a := &announcer{from: from, channel: channel, logger: logger}
	a.life, a.stop = context.WithCancel(context.Background())
	return a
}

// close ends the watches.
func (a *announcer) close() {
	a.stop()
	a.watches.Wait()
}

// Pending implements [transport.Announcements]. An agent gets those for it in its own loop.
func (a *announcer) Pending(who identity.Principal) bool {
	return len(who.Agents) == 0 && a.from.Pending(who)
}

// Take implements [transport.Announcements].
func (a *announcer) Take(who identity.Principal) (texts []string) {
	for _, one := range a.take(who) {
		texts = append(texts, one.String())
	}
	return texts
}

func (a *announcer) take(who identity.Principal) []agents.Announcement {
	ctx, cancel := context.WithTimeout(context.Background(), takeTime) // they are lost where one is taken for nobody
	defer cancel()
	all, err := a.from.Take(ctx, who)
	if err != nil {
		a.logger.Warn("announcements of subagents wait", "error", err)
	}
	return all
}

// hook has the clients of sessions notified, if they take that.
func (a *announcer) hook(hooks *mcpserver.Hooks) {
	hooks.AddOnRegisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		who := principalOf(session)
		if len(who.Agents) > 0 {
			return
		}
		ctx, end := context.WithCancel(a.life)
		a.ends.Store(session.SessionID(), end)
		ready, stop := a.from.Watch(who)
		a.watches.Go(func() {
			defer stop()
			a.watch(ctx, session, ready)
		})
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		if end, ok := a.ends.LoadAndDelete(session.SessionID()); ok {
			end.(context.CancelFunc)()
		}
	})
}

// watch notifies the client of a session, each time that ready has a value, until ctx is done.
func (a *announcer) watch(ctx context.Context, session mcpserver.ClientSession, ready <-chan struct{}) {
	for {
		select {
		case <-ready:
			if a.listens(session) {
				transport.Notify(session, channelMethod, func() []any { return a.events(principalOf(session)) })
			}
		case <-ctx.Done():
			return
		}
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

// events returns the params of the notifications that are to be sent now.
func (a *announcer) events(who identity.Principal) (all []any) {
	for _, one := range a.take(who) {
		all = append(all, map[string]any{
			"content": one.String(), "meta": map[string]string{"run_id": one.RunID, "label": one.Label, "status": string(one.Status)},
		})
	}
	return all
}
