package server

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/replica"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// Options configure a [Server].
type Options struct {
	// Name is the server's name for programs, and Title that for people, in its replies to
	// initialize: "skills-mcp" and "Skills" by default. Version is its version there.
	Name, Title, Version string
	// Reloader keeps the published catalog fresh; nil leaves that to callers of
	// [Server.Publish].
	Reloader Reloader
	// Snapshots keeps the folders of bundled skills on disk.
	Snapshots *snapshot.Store
	// RunCode offers the tool run_code, which runs a model's own code, also if no skill has
	// a grant for code.
	RunCode bool
	// KeptSandboxes offers sandboxes that are kept between calls.
	KeptSandboxes bool
	// MatchSkills lists the tool match_skills, which answers also where it is not listed.
	MatchSkills bool
	// Installer offers the tool install_skill and the prompt install; nil offers neither.
	Installer Installer
	// Installed returns where an installed skill comes from, for get_skill; nil for another
	// one. It must return when ctx is done. nil is none of any.
	Installed func(ctx context.Context, skill *skills.Skill) *describe.Installed
	// Sandbox describes the runner, for the plans of get_skill.
	Sandbox describe.Sandbox
	// Expose bounds and orders the skills that are tools of their own.
	Expose exposure.Options
	// Roots chooses the workspaces of a legacy client among the folders that it
	// names as its roots, absolute paths, in place of the server's own; none leaves
	// it with these. Where it is nil, no client is asked.
	Roots func(folders []string) (workspaces []string)
	// Usage counts the calls of skills, by qualified name; nil counts none.
	// It must not block.
	Usage Usage
	// Left is called with the key of a principal whose session has ended; nil is not. It
	// must not block.
	Left func(identity.Key)
	// Texts returns nil if the texts and files of a skill may be passed on, or else a
	// [run.Error]; nil passes on all. It must return when ctx is done.
	Texts func(ctx context.Context, skill *skills.Skill) error
	// Connected are the skills of other MCP servers; nil are none. It needs a Reloader.
	Connected Connected
	// Subagents offers the tools sessions_spawn, sessions_send, sessions_list, sessions_history
	// and sessions_kill, which take [exposure.SubagentChars] of the room; nil offers none.
	Subagents Subagents
	// Agents returns the agents that clients of this server may spawn. Where there are none,
	// or it is nil, there is no sessions_spawn. It must be fast.
	Agents func(*skills.Catalog) []*agents.Role
	// Channel announces the ends of subagents to a Claude Code that started this process, and
	// listens to it as a channel (its option --channels).
	Channel bool
	// Feedback holds ratings of skills and how their last calls ended; nil offers none.
	Feedback *feedback.Book
	// Index searches the skills; nil is a new one.
	Index *search.Index
	// FirstScan bounds the time for which lists wait for the first catalog. Where it is
	// over, they are answered without skills, and clients are notified of the catalog
	// when it comes. Calls wait for as long as it takes, and requests that only open a
	// connection do not. After the catalog, all wait for the first [Server.Activate],
	// but only briefly. 0 lets nothing wait.
	FirstScan time.Duration
	// Replicas are the servers that share the store; nil are none.
	Replicas *replica.Set
	// Unlogged leaves the changes of the skills to another server's log.
	Unlogged bool
	// Logger gets entries for the operator; nil discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Texts == nil {
		c.Texts = func(context.Context, *skills.Skill) error { return nil }
	}
	if c.Index == nil {
		c.Index = search.New(nil)
	}
	c.Name, c.Title = cmp.Or(c.Name, "skills-mcp"), cmp.Or(c.Title, "Skills")
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// A Reloader keeps the published catalog fresh.
type Reloader interface {
	// Reload scans all roots and publishes the catalog, as [Server.Publish] does.
	Reload(ctx context.Context) (catalog *skills.Catalog, changed bool, err error)
	// Refresh returns when the published catalog is as new as the files of the skill
	// that a call names, or as those of all skills for nil: a name without a skill.
	Refresh(ctx context.Context, skill *skills.Skill) error
}

// Usage counts the uses of skills.
type Usage interface{ Used(name string) }

// Connected are the skills of other MCP servers, whose files are fetched when they are
// first loaded.
type Connected interface {
	// Fetched reports whether a skill of a catalog can be used as it is. It must be fast.
	Fetched(skill *skills.Skill) bool
	// Again has the servers asked for their skills, in the background.
	Again()
	// Fetch has the person of a call consent to a skill, unless they have, and gets its
	// files: the next scan has them. It may ask the client of the call, and must return
	// when ctx is done.
	Fetch(ctx context.Context, skill *skills.Skill, call *run.Call) error
}

// An Installer installs skills from elsewhere.
type Installer interface {
	// Prepare fetches a skill of a source that a model names; "" is the only one. Nothing
	// changes before [Installation.Commit]. It must return when ctx is done. progress gets
	// a message for each step.
	Prepare(ctx context.Context, name, source string, progress func(message string)) (Installation, error)
}

// An Installation is a fetched skill, which the person is asked about.
type Installation interface {
	run.Installation
	// Installed returns the result for the model after Commit, as a JSON object.
	Installed() any
}

// Subagents are the sessions of agents, as [agents.Sessions] are. The principal is that of the
// request: sessions that it does not see do not exist for it. Methods with a context must
// return when it is done. A [run.Error] tells the model what to do.
type Subagents interface {
	Spawn(ctx context.Context, who identity.Principal, r agents.SpawnRequest) (*agents.Session, error)
	Send(ctx context.Context, who identity.Principal, session, message string, wait time.Duration) (answer string, err error)
	List(ctx context.Context, who identity.Principal, status agents.Status) ([]*agents.Session, error)
	History(ctx context.Context, who identity.Principal, runID string) (string, error)
	Kill(ctx context.Context, who identity.Principal, runID string) error
	Wait(ctx context.Context, who identity.Principal, runID string) (a agents.Announcement, received func(), err error)
	Pending(who identity.Principal) bool
	Take(ctx context.Context, who identity.Principal, use func([]agents.Announcement)) error
	Watch() (ready <-chan struct{}, stop func())
}
