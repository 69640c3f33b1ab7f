// Package agents hands tasks to agents: each has a session of its own, in which a model
// works on the task with the tools of the agent's profile, and whose result is announced
// once to the session that spawned it.
//
// Start with [New]; a session begins with [Sessions.Spawn].
package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A Status is the state of a [Session].
type Status string

// The statuses. A session that does not run has ended.
const (
	Running  Status = "running"
	Done     Status = "done"
	Failed   Status = "error"
	TimedOut Status = "timeout"
	Killed   Status = "killed"
)

// The values of [Session.Cleanup].
const (
	Keep   = "keep"
	Delete = "delete" // the session is removed when its result has been announced
)

// A Session is the work of an agent on one task. Conduit's sessions have its first 17 fields.
type Session struct {
	RunID         string         `json:"run_id"` // 12 hexadecimal digits
	Agent         string         `json:"child_agent_id"`
	ParentSession string         `json:"parent_session_key"` // the run ID of the parent, or the key of a client's session
	ParentAgent   string         `json:"parent_agent_id"`    // "" for a client
	Task          string         `json:"task"`
	Label         string         `json:"label"`
	Model         string         `json:"model_override,omitempty"`
	Messages      []chat.Message `json:"messages,omitempty"`
	Status        Status         `json:"status"`
	Result        string         `json:"result,omitempty"`
	Depth         int            `json:"depth"` // 1 for a client's
	Children      []string       `json:"children,omitempty"`
	Cleanup       string         `json:"cleanup"`
	Created       time.Time      `json:"created_at"`
	Started       time.Time      `json:"started_at,omitempty,omitzero"`
	Ended         time.Time      `json:"ended_at,omitempty,omitzero"`
	Timeout       float64        `json:"timeout_seconds"`

	// Root is the key of the client's session at the top of the tree, and Owner that client's
	// principal beyond the session.
	Root  identity.Key `json:"root,omitempty"`
	Owner identity.Key `json:"owner,omitempty"`
	// Ancestors are the run IDs above it, the outermost first.
	Ancestors []string `json:"ancestors,omitempty"`
	// Budget bounds the session with its descendants, and Used is their usage of it.
	Budget Budget `json:"budget"`
	Used   Used   `json:"used"`
}

// A Budget bounds a session with its descendants. A zero field does not.
type Budget struct {
	Turns  int     `json:"turns,omitempty" yaml:"turns"`   // requests to models
	Tokens int     `json:"tokens,omitempty" yaml:"tokens"` // of these and their replies
	Cost   float64 `json:"cost,omitempty" yaml:"cost"`     // in the currency of the models' prices
}

// Used is the part of a [Budget] that is gone.
type Used struct {
	Turns  int     `json:"turns"`
	Tokens int     `json:"tokens"`
	Cost   float64 `json:"cost"`
}

// An Agent is a role that sessions have: of the configuration, or of a file, whose frontmatter
// may spell the keys otherwise.
type Agent struct {
	Name        string `json:"name" yaml:"-"` // qualified
	Description string `json:"description,omitempty" yaml:"description"`
	Prompt      string `json:"-" yaml:"prompt"`
	// Tools and DisallowedTools name skills as their tools are called. nil Tools are all.
	Tools           []string `json:"-" yaml:"tools"`
	DisallowedTools []string `json:"-" yaml:"disallowed_tools"`
	Model           string   `json:"model,omitempty" yaml:"model"` // one of the configured models; "" and "inherit": the parent's
	PermissionMode  string   `json:"-" yaml:"permission_mode"`
	// AllowAgents are the agents that it may spawn; nil is any. [Roster] qualifies the names.
	AllowAgents []string `json:"allow_agents,omitzero" yaml:"allow_agents"`
	MaxChildren int      `json:"max_children,omitempty" yaml:"max_children"` // that run at once, within agents.max_children; 0 is that
	Skills      []string `json:"skills,omitempty" yaml:"skills"`             // whose instructions are in its prompt
}

// Tools are the tools of one session, as a client of its principal has them.
type Tools interface {
	// List returns the tools.
	List(ctx context.Context) ([]chat.Definition, error)
	// Call calls a tool. failed says that the text is that of an error, for the model. It
	// must not panic.
	Call(ctx context.Context, name string, args json.RawMessage) (text string, failed bool)
	// Skills returns a line that names the skills there are, and the instructions of those
	// that are named, and then of those that a message matches: at most max.
	Skills(ctx context.Context, message string, named []string, max int) (line string, bodies []string, err error)
	// Close ends the client's session, and with it all that it has opened.
	Close()
}

// An Announcement tells once, in the session that has spawned it, that a session has ended.
type Announcement struct {
	RunID, Label string
	Status       Status
	Summary      string
}

// announced begins an announcement.
const announced = "[Subagent Complete] "

// String returns the announcement for a model.
func (a Announcement) String() string {
	return fmt.Sprintf(announced+"%q (%s). Result: %s", a.Label, a.Status, a.Summary)
}

// A SpawnRequest asks for a session.
type SpawnRequest struct {
	Agent   string // a name, or "auto" for the agent of the skill that fits the task best
	Task    string
	Label   string        // "" is made of the agent's name and the run ID
	Model   string        // "" is the agent's
	Timeout time.Duration // at most 24 hours; 0 is the configured one
	Cleanup string        // [Keep] or [Delete]; "" is Keep
	Awaited bool          // its announcement is for [Sessions.Wait]
	// Workspaces are the folders that the client chose for its calls, which are those of the
	// session; none are the server's.
	Workspaces []string
}
