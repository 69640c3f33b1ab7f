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
	// Route returns the name of the agent for a task; "" is none.
	Route func(ctx context.Context, who identity.Principal, task string) string
	// Connect returns the tools of a session, whose principal is who. workspaces are those of
	// the [SpawnRequest].
	Connect func(ctx context.Context, who identity.Principal, workspaces []string) (Tools, error)
	// Watch returns a function that reports whether the credential of a client still counts;
	// nil is one that cannot be revoked. An error revokes none. Watch may be nil.
	Watch func(ctx context.Context, who identity.Principal) (counts func(context.Context) (bool, error))

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
