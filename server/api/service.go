// Package api is the REST API, and the operations below it that the page shares. Each
// operation acts for the principal of its context, with the policy and the record of a
// call over MCP.
//
// Start with [New]; [Service.Handler] serves the API.
package api

import (
	"context"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/jobs"
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
	// Off returns the skills that do not exist for the server's clients, by qualified name.
	Off() []policy.Off
	// Generation returns a number that differs after each decision.
	Generation(ctx context.Context) (int64, error)
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
	// Workspaces are the absolute folders that runs may be granted.
	Workspaces []string
	Runs       store.Runs
	Jobs       *jobs.Jobs
	// Policy has the profiles of the configuration, and what the person assigns to them.
	Policy *policy.Policy
	// Outlook returns the decisions about calls of a skill under a profile.
	Outlook func(ctx context.Context, skill *skills.Skill, profile string) ([]describe.Outlook, error)
	// Published counts the publications of skills, for [Service.Stamps]; nil counts none.
	Published func() uint64
	// Page returns the address at which a person answers a question, or ""; nil is none.
	Page func(approval string) string
	// Doctor diagnoses the machine. It must return when ctx is done.
	Doctor func(ctx context.Context) (*Diagnosis, error)
}

// A Service has the operations of the API and of the page.
type Service struct {
	options Options
	states  states
	proving chan struct{} // has room for the passphrase that is checked
}

// New returns a service.
func New(o Options) *Service { return &Service{options: o, proving: make(chan struct{}, 1)} }

// A SkillQuery selects skills. Zero fields select all.
type SkillQuery struct {
	Category string        `json:"category,omitempty"`
	Text     string        `json:"q,omitempty" jsonschema_description:"words to search for"`
	State    string        `json:"state,omitempty" jsonschema_description:"the first word of a state, such as ready, unavailable or blocked"`
	Source   skills.Source `json:"source,omitempty" jsonschema:"enum=session,enum=user,enum=system,enum=extra"`
	// Cursor is the Next of the page before; "" is the first page.
	Cursor string `json:"cursor,omitempty" jsonschema_description:"next of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200" jsonschema_description:"skills of one page; 50 by default"`
}

// A SkillPage is one page of skills. Skills that are off are in it, for a person.
type SkillPage struct {
	Items []SkillItem `json:"items"`
	Total int         `json:"total"` // that match, on all pages
	Next  string      `json:"next,omitempty"`
}

// A SkillItem is a skill in a list.
type SkillItem struct {
	describe.Listed
	Title   string `json:"title"` // for people
	Plugin  string `json:"plugin,omitempty"`
	Enabled bool   `json:"enabled"`
	Pinned  bool   `json:"pinned"`
	Match   string `json:"match,omitempty"` // a line that shows what a search found
}

// An Execution is a request to run a skill.
type Execution struct {
	Params    map[string]any `json:"params,omitempty" jsonschema_description:"the arguments, as the skill's schema has them"`
	Workspace string         `json:"workspace,omitempty" jsonschema_description:"one of the server's workspaces; all by default"`
	// Ask lets the run ask its person by [jobs.Question], as the page does; else questions
	// are refused.
	Ask bool `json:"-"`
}

// A RunQuery selects runs of the record.
type RunQuery struct {
	Skill    string    `json:"skill,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Parent   string    `json:"parent,omitempty" jsonschema_description:"ID of a run: those that its script called"`
	Approval string    `json:"approval,omitempty" jsonschema_description:"ID of the approval that they ran by"`
	Since    time.Time `json:"since,omitzero" jsonschema_description:"runs that ended at this time or later"`
	Cursor   string    `json:"cursor,omitempty" jsonschema_description:"next of the page before"`
	Limit    int       `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500" jsonschema_description:"runs of one page; 50 by default"`
}

// A RunPage is one page of runs, the newest first.
type RunPage struct {
	Items []*store.Run `json:"items"`
	Next  string       `json:"next,omitempty"`
	// Running are the runs that this server holds and that have not ended, on the first
	// page.
	Running []Running `json:"running,omitempty"`
}

// A Running is a run that has not ended.
type Running struct {
	ID    string     `json:"id"`
	Skill string     `json:"skill"`
	Began time.Time  `json:"began"`
	State jobs.State `json:"state"`
}

// A Run is a run of the record, or one that has not ended, or both.
type Run struct {
	ID     string         `json:"id"`
	Record *store.Run     `json:"record,omitempty"` // nil before its first row
	Live   *jobs.Snapshot `json:"live,omitempty"`   // while this server holds it
	Proof  *Proof         `json:"proof,omitempty"`  // of a run that people approved
}

// A Proof compares the files that people approved with those that have run.
type Proof struct {
	Approval string `json:"approval"` // its ID
	Approved string `json:"approved"` // digest of the files that it was about; "" if it is gone
	Ran      string `json:"ran"`      // digest of the files that the run had
	Same     bool   `json:"same"`
	// Scope and Signatures are the answers. With the scope always, files may have run that
	// differ from the approved ones, and by which the skill has gained nothing.
	Scope      approval.Scope       `json:"scope,omitempty"`
	Signatures []approval.Signature `json:"signatures,omitempty"`
}

// An Answer answers a question of an approval.
type Answer struct {
	Scope approval.Scope `json:"scope" jsonschema:"enum=no,enum=once,enum=always"` // No denies
	// As names a second person of policy.approvers, whom the passphrase proves.
	As         string `json:"as,omitempty" jsonschema_description:"a second person of policy.approvers"`
	Passphrase string `json:"passphrase,omitempty" jsonschema_description:"of that person"`
	// Token is the one of policy.script_token, with which a script answers once; "" is none.
	Token string `json:"-"`
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
