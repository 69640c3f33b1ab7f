package agents

import (
	"context"
	"log/slog"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// Options configure [Sessions].
type Options struct {
	Store *store.Store
	// Find returns the agent of a name that exists for who, or an error for the caller.
	Find func(ctx context.Context, who identity.Principal, name string) (*Agent, error)
	// Names returns the names of the agents that exist for who.
	Names func(ctx context.Context, who identity.Principal) []string
	// Route returns the name of the agent for a task; "" is none.
	Route func(ctx context.Context, who identity.Principal, task string) string
	// Connect returns the tools of a session, whose principal is who.
	Connect func(ctx context.Context, who identity.Principal) (Tools, error)

	Models        map[string]*Model // by name
	Model         string            // the name of the default
	Depth         int               // of a session, at most; 0 is 2
	MaxChildren   int               // of one parent that run at once; 0 is 5
	Timeout       time.Duration     // 0 is 5 minutes
	Keep          time.Duration     // in memory after the end; 0 is 60 minutes
	SkillsPerTurn int               // bodies of skills that a message may add
	Budget        Budget            // of a client's session with its descendants
	Hook          Hook              // may be nil
	Logger        *slog.Logger      // nil discards
}

// Sessions are the sessions of agents of one server. They may be used concurrently. Errors
// for the caller are a [github.com/skillsmcp/skills-mcp/server/run.Error].
type Sessions struct {
	options Options
}

// New returns the sessions of a store. Those of processes that have ended are marked as
// failed, and announced. [Sessions.Close] ends them.
func New(o Options) *Sessions { panic("TODO") }

// Spawn starts a session for who: a client, or the session of an agent. It is stored before
// Spawn returns.
func (s *Sessions) Spawn(ctx context.Context, who identity.Principal, r SpawnRequest) (*Session, error) {
	panic("TODO")
}

// MaySpawn reports whether who may spawn any session: a client, or an agent whose depth and
// allow-list permit it.
func (s *Sessions) MaySpawn(who identity.Principal) bool { panic("TODO") }

// Send gives a message to a running session, named by run ID or label, and waits for its
// reply: its next text without calls, or the announcement of its end, which then counts as
// delivered. With a wait of 0, and when it is over, the reply is "".
func (s *Sessions) Send(ctx context.Context, who identity.Principal, name, message string, wait time.Duration) (reply string, err error) {
	panic("TODO")
}

// List returns the sessions that who sees, the newest first, at most 100, without their
// messages. A status of "" is any.
func (s *Sessions) List(ctx context.Context, who identity.Principal, status Status) ([]*Session, error) {
	panic("TODO")
}

// History returns the conversation of a session that who sees, named by run ID or label, as
// lines of "[role] text", of at most 10,000 characters.
func (s *Sessions) History(ctx context.Context, who identity.Principal, name string) (string, error) {
	panic("TODO")
}

// Kill ends a running session that who sees, with its descendants. It returns when they have
// ended, or after 5 s.
func (s *Sessions) Kill(ctx context.Context, who identity.Principal, name string) error {
	panic("TODO")
}

// All returns the sessions of an owner, or of everybody for nil, as List does.
func (s *Sessions) All(ctx context.Context, owner *identity.Key, status Status) ([]*Session, error) {
	panic("TODO")
}

// Find returns a session with its messages, whoever owns it; nil if there is none.
func (s *Sessions) Find(ctx context.Context, runID string) (*Session, error) { panic("TODO") }

// Stop is Kill for a session of anybody. One that has ended stays as it is.
func (s *Sessions) Stop(ctx context.Context, runID string) error { panic("TODO") }

// Wait returns the announcement of a session that was spawned with [SpawnRequest.Awaited],
// when it has ended with all its descendants. It then counts as delivered; if ctx is done
// before, it is one for [Sessions.Take].
func (s *Sessions) Wait(ctx context.Context, who identity.Principal, runID string) (Announcement, error) {
	panic("TODO")
}

// Pending reports whether [Sessions.Take] may have announcements for the session of a client.
// It does no I/O.
func (s *Sessions) Pending(who identity.Principal) bool { panic("TODO") }

// Take returns the announcements for the session of a client, at most 20, the oldest first:
// none is returned twice. Those of sessions whose client has gone are for the next one of
// the same owner.
func (s *Sessions) Take(ctx context.Context, who identity.Principal) ([]Announcement, error) {
	panic("TODO")
}

// Watch returns a channel that holds a value after an announcement for the session of a
// client has become ready. The caller calls stop when it no longer reads.
func (s *Sessions) Watch(who identity.Principal) (ready <-chan struct{}, stop func()) { panic("TODO") }

// Leave tells that the session of a client has ended. Its agents' sessions go on.
func (s *Sessions) Leave(key identity.Key) { panic("TODO") }

// Close ends all sessions, which are announced to their owners by the next server, and waits
// for them.
func (s *Sessions) Close() { panic("TODO") }
