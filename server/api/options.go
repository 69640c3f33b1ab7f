package api

import (
	"context"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// A Directory finds and runs the skills that the server publishes, as its MCP tools do.
type Directory interface {
	// View describes the published skills to a person. It waits for the first scan, and
	// must return when ctx is done.
	View(ctx context.Context) (*describe.View, error)
	// Find returns the skill of a name, as fresh as its files. The error is one that
	// [run.AsError] knows.
	Find(ctx context.Context, name string) (*skills.Skill, error)
	// Search finds skills by words.
	Search(ctx context.Context, q search.Query) (search.Result, error)
	// Run runs a skill. The directory sets its callees, and keeps the outputs for the
	// principal of the request. A nil result has an error, which is a [*run.Error].
	Run(ctx context.Context, r run.Request) (*result.Run, error)
	// Output returns an output of a run that the principal of ctx owns.
	Output(ctx context.Context, uri string) (output.Item, bool)
}

// Rules are the decisions of the person about skills.
type Rules interface {
	// Enable enables or disables a skill for everybody.
	Enable(ctx context.Context, skill *skills.Skill, enabled bool) error
	// Pin keeps the tool of a skill, however many skills there are, or no longer.
	Pin(ctx context.Context, skill *skills.Skill, pinned bool) error
	// Off returns the skills that do not exist for the principal of ctx, by qualified name.
	Off(ctx context.Context) []policy.Off
}

// Subagents has the sessions of subagents, as [agents.Sessions] does.
type Subagents interface {
	All(ctx context.Context, owner *identity.Key, status agents.Status) ([]*agents.Session, error)
	Find(ctx context.Context, runID string) (*agents.Session, error)
	Stop(ctx context.Context, runID string) error
}

// Options connect a [Service] to the server.
type Options struct {
	Directory Directory
	Rules     Rules
	Approvals *approval.Approvals
	// Trusting returns the approvals in which a question about trust in a workspace is
	// answered; nil are Approvals.
	Trusting func(ctx context.Context, t *run.Trust) (*approval.Approvals, error)
	// Passphrases prove second people, and scripts.
	Passphrases approval.Passphrases
	// Secrets has the operations on the machine's secrets.
	Secrets *manage.Secrets
	// Profiles has the operations on the machine's profiles.
	Profiles *manage.Profiles
	// Workspaces are the absolute folders that runs may be granted.
	Workspaces []string
	Runs       store.Runs
	Jobs       *jobs.Jobs
	// Subagents has the sessions of subagents; nil where no model is configured.
	Subagents Subagents
	// Published counts the publications of skills, for [Service.Stamps]; nil counts none.
	Published func(ctx context.Context) uint64
	// Page returns the address at which a person answers a question, or ""; nil is none.
	Page func(approval string) string
	// Doctor diagnoses the machine. It must return when ctx is done.
	Doctor func(ctx context.Context) (*Diagnosis, error)
}

// A Diagnosis is the report of doctor.
type Diagnosis struct {
	Sections []Section `json:"sections"`
	OK       bool      `json:"ok"` // skills can be run
}

// A Section is a part of a diagnosis.
type Section struct {
	Name     string            `json:"name"`
	Findings []sandbox.Finding `json:"findings"`
}
