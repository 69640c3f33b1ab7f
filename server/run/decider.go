package run

import (
	"context"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Decider decides which calls run, and with which grant. Both methods must
// return when ctx is done, and may be called concurrently. An [*Error] that they
// return refuses the call with its own code; any other error does so as an internal
// one.
type Decider interface {
	// Decide returns the grant of the proposed run, if it may run at all. It asks
	// nobody. The proposal has its digest, and no command yet.
	Decide(ctx context.Context, p *Proposal) (*Decision, error)
	// Approve returns nil if the run may start now, with the command that the
	// proposal has by then. It may ask a person, and wait for the answer.
	Approve(ctx context.Context, p *Proposal) error
}

// A Recorder is told of each call that was decided about.
type Recorder interface {
	// Record receives each proposal once: when its run has ended, or when it was
	// refused. ctx has the values of the call, and outlives its cancellation. Record
	// may be called concurrently, and must not block for long: the answer to the call
	// waits for it.
	Record(ctx context.Context, r Record)
}

// Secrets supplies the values of variables.
type Secrets interface {
	// Values returns, as "NAME=value", those of the named variables that the
	// principal may pass on. It must return when ctx is done.
	Values(ctx context.Context, p identity.Principal, names []string) ([]string, error)
}

// An Action is the kind of a request.
type Action string

// The kinds of requests.
const (
	ActionSkill   Action = "skill"   // [Executor.Run]
	ActionCode    Action = "code"    // [Executor.RunCode]
	ActionSession Action = "session" // [Executor.OpenSession]
)

// A Proposal describes a run that has not started yet.
type Proposal struct {
	Action    Action
	Principal identity.Principal
	// Skill is the skill that runs, or whose folder is mounted; nil is none.
	Skill *skills.Skill
	// Digest is the digest of the snapshot that is mounted; "" without a skill.
	Digest string
	// Args are the arguments: for Decide as they were given, with defaults; for
	// Approve as the script receives them.
	Args map[string]any
	// Picked is that of the [Request].
	Picked bool
	// Workspaces are the absolute host folders that the run may be granted.
	Workspaces []string
	// Client is the client that may be asked; nil is none.
	Client *elicit.Client
	// DryRun reports that nothing will run: Decide answers as for somebody whom
	// everybody says yes to.
	DryRun bool

	// Variables are the names of the granted variables that have a value; unset in
	// Decide.
	Variables []string
	// Command is the command that will run; nil in Decide.
	Command *sandbox.Command
}

// A Decision is the grant of a run.
type Decision struct {
	Grant sandbox.Grant
	// Variables are the names of the variables that it may be given.
	Variables []string
}

// A Record is a proposal with its outcome.
type Record struct {
	*Proposal
	Outcome *Outcome // nil: no command has started
	Err     error    // an [*Error], or nil
}

// Environ is the [Secrets] of a fixed list of "NAME=value", the same for every
// principal.
type Environ []string

// Values implements [Secrets].
func (e Environ) Values(_ context.Context, _ identity.Principal, names []string) ([]string, error) {
	var values []string
	for _, variable := range e {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains(names, name) {
			values = append(values, variable)
		}
	}
	return values, nil
}

// discard is the [Recorder] that records nothing.
type discard struct{}

func (discard) Record(context.Context, Record) {}
