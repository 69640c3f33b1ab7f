package run

import (
	"context"
	"encoding/json"
	"io"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Call holds the fields that requests of every kind share. The zero Call is
// anonymous, and fine.
type Call struct {
	// RunID is the ID of the run, made by [NewID], for a caller that names the run before
	// it has ended; "" makes one. A session that is opened has an ID of its own.
	RunID string
	// Principal is the party that the call acts for. Slots are counted for it, and
	// it owns the sessions that it opens.
	Principal identity.Principal
	// Way is the way by which the call came in.
	Way Way
	// Stack are the qualified names of the skills whose scripts make the call, the
	// outermost first; none for a client's call.
	Stack []string
	// Callers are the digests of those skills that are not the person's own.
	Callers []string
	// Parent is the ID of the run whose script makes the call; "" for a client's call.
	// With one, Workspaces are all that the call may be granted, also if there are none.
	Parent string
	// Group and Connection tell the clients of one principal apart, as those of a
	// [sandbox.Tenant] do.
	Group, Connection string
	// Workspaces replace those of the [Options], if there are any.
	Workspaces []string
	// Session is the ID of a sandbox that the principal has opened; "" is a fresh
	// sandbox.
	Session string
	// Timeout replaces the skill's time limit, up to the configuration's maximum; 0
	// does not.
	Timeout time.Duration
	// Client answers the questions of a script that asks; nil answers none.
	Client *elicit.Client
	// Callees are the skills that the script may call; nil is none.
	Callees Callees
	// Stdout and Stderr receive the output as it comes; nil is fine. They must not
	// block.
	Stdout, Stderr io.Writer
	// Progress receives a message for each thing the call waits for before it
	// starts; nil is fine.
	Progress func(message string)
	// Warn receives doubts that the call is as its caller meant; nil is fine.
	Warn func(message string)

	// Quiet stores no question and no record where nobody has said yes: another call has told.
	Quiet bool

	asked     string        // why a hook wants a person asked; "" is not
	callsLeft *atomic.Int32 // of the client's call; nil for one itself
}

// tenant returns the principal as sandboxes know it.
func (c *Call) tenant() sandbox.Tenant {
	t := sandbox.Tenant{ID: string(c.Principal.Key()), Group: c.Group, Connection: c.Connection}
	if c.Principal.Named() || c.Principal.Agents != nil { // whose subagents have the slots of one
		t.Principal = string(c.Principal.Owner())
	}
	return t
}

// A Way is the way by which a call came in.
type Way string

// The ways in.
const (
	WayTool     Way = "tool"      // the tool of a skill
	WayRunSkill Way = "run_skill" // the fixed tool that runs any skill
	WayCode     Way = "run_code"
	WaySession  Way = "open_sandbox"
	WayInstall  Way = "install_skill"
	WayPrompt   Way = "prompt"
	WayResource Way = "resource"
	WayCommand  Way = "command line"
	WayREST     Way = "REST"
	WayPage     Way = "page"
	WaySkill    Way = "skill" // another skill's script
	WayHook     Way = "hook"  // a plugin's hook around a call
)

// Callees are the skills that scripts may call.
type Callees interface {
	// Find returns the skill of a name. It must return when ctx is done.
	Find(ctx context.Context, name string) (*skills.Skill, error)
	// Answer returns the result of a call for the script that made it: JSON of bounded
	// size. err is the error that ended the call, or nil.
	Answer(skill *skills.Skill, o *Outcome, err error) json.RawMessage
}

// A Request is one call of a skill.
type Request struct {
	Call
	Skill *skills.Skill
	// Args are the arguments, as values of encoding/json.
	Args map[string]any
	// Picked reports that a person has picked the skill in a client. A client could
	// do so by itself, so this opens skills that a model may not call, and approves
	// nothing.
	Picked bool
	// Folder is the base of relative paths in arguments; "" is the first
	// workspace.
	Folder string
	// Stdin is the standard input of a script that asks nothing; nil is empty.
	Stdin io.Reader
}

// A CodeRequest asks to run code that a model wrote.
type CodeRequest struct {
	Call
	Language string // bash, python, node or typescript
	Code     string
	Args     []string
	// Skill is the skill whose folder is mounted at /skill; nil mounts an empty one. The
	// code has its grant, if the person has given it something: then it is decided about
	// as a call of the skill.
	Skill *skills.Skill
}

// An OpenRequest asks for a session: a sandbox that several calls share. Its Session and
// Timeout are ignored.
type OpenRequest struct {
	Call
	// Skill is the skill whose folder is mounted at /skill; nil mounts an empty one.
	Skill *skills.Skill
	// Role names the image; "" is the skill's, or else the default one.
	Role string
	// Workspace is the only one that is mounted; "" mounts all.
	Workspace string
}

// A Session is a sandbox that was opened for several calls.
type Session struct {
	ID string
	// Digest is the digest of the mounted snapshot; "" without a skill.
	Digest     string
	Role       string
	Workspaces []string
	// Idle and Lifetime bound how long it lives.
	Idle, Lifetime time.Duration
}

// An Outcome is the result of a command that has started.
type Outcome struct {
	RunID string
	// What names the program in messages: "skill NAME" or "the code".
	What string
	// Entry of the skill whose script ran; nil for code. It says which output counts.
	Entry *skills.Entry
	// Digest is the digest of the mounted snapshot; "" without a skill.
	Digest string
	// Hint guesses why a script failed, for people; "" is no guess. ModelHint is the guess for
	// a model where that differs.
	Hint, ModelHint string
	// Hooks are texts of hooks about the call, each with its plugin.
	Hooks []string
	*sandbox.Result
}

// Seconds returns the time that a caller asks for as a number of seconds. The error
// is an [*Error].
func Seconds(name string, n float64) (time.Duration, error) {
	d, err := skills.Seconds(n)
	if err != nil {
		return 0, invalid("%q is %v; %v", name, n, err)
	}
	return d, nil
}
