package run

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Decider decides which calls run, and with which grant. Its methods must
// return when ctx is done, and may be called concurrently. An [*Error] that they
// return refuses the call with its own code; any other error does so as an internal
// one.
type Decider interface {
	// MayAsk reports whether Approve may ask somebody about a call of a skill. A call
	// of which it says no needs no client that can be asked. It must be fast.
	MayAsk(p identity.Principal, skill *skills.Skill) bool
	// Decide returns the grant of the proposed run, if it may run at all. It asks
	// nobody. The proposal has its digest, and no command yet.
	Decide(ctx context.Context, p *Proposal) (*Decision, error)
	// Approve returns nil if the run may start now, with the decision and the command
	// that the proposal has by then. It may ask people, and wait for their answers: the
	// call holds no slot meanwhile. It sets the proposal's Approval.
	Approve(ctx context.Context, p *Proposal) error
}

// A Standing returns, in a few words, the calls like a proposal's that given approvals of its
// principal cover; "" is none. It completes a proposal without a command if there may be some.
type Standing func(p *Proposal, complete func() error) string

// A Recorder is told of each call that was decided about.
type Recorder interface {
	// Begin receives each proposal whose run is about to start. An error refuses the
	// run: return one only for a run that must not go unrecorded.
	Begin(ctx context.Context, p *Proposal) error
	// Record receives each proposal once: when its run has ended, or when it was
	// refused, also for wrong arguments, when Decide has not seen it. ctx has the values
	// of the call, and outlives its cancellation. Record may be called concurrently, and
	// must not block for long: the answer to the call waits for it.
	Record(ctx context.Context, r Record)
}

// Variables supplies the values of variables.
type Variables interface {
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
	ActionInstall Action = "install" // [Executor.Install]
)

// A Proposal describes a run that has not started yet.
type Proposal struct {
	Action Action
	Way    Way
	// RunID is the ID of the run, or of the session that is opened.
	RunID     string
	Principal identity.Principal
	// Skill is the skill that runs, or whose folder is mounted; nil is none.
	Skill *skills.Skill
	// Digest is the digest of the snapshot that is mounted, and Folder its absolute host
	// path; "" without a skill.
	Digest, Folder string
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
	// Stack are the qualified names of the skills whose scripts made the call, the
	// outermost first; none for a client's call.
	Stack []string
	// Callers are the digests of those skills that are not the person's own.
	Callers []string
	// Parent is the ID of the run whose script made the call; "" for a client's call.
	Parent string
	// Quiet has the same meaning as in [Call].
	Quiet bool

	// Review describes the installation that is asked about; nil for other actions, and
	// in Decide.
	Review *Review

	// Decision is that of Decide, which finds nil.
	Decision *Decision
	// Approval is the ID of the approval by which it runs, set by Approve; "" is none.
	Approval string

	// Variables are the names of the granted variables that have a value; unset in
	// Decide.
	Variables []string
	// Command is the command that will run; nil in Decide.
	Command *sandbox.Command

	redact *redact.Replacer // of the values of its secrets
}

// A Decision is the grant of a run that may start, perhaps after people have confirmed
// it. A refusal is an error.
type Decision struct {
	Grant sandbox.Grant
	// Variables are the names of the variables that it may be given.
	Variables []string
	// Values are the values, as "NAME=value", of some of these that the profile of the
	// principal gives.
	Values []string
	// Secrets gives it secrets, without their values here.
	Secrets []SecretGrant
	// Class is the class of the grant: that of the skill, or a higher one that the
	// person's rule makes it.
	Class skills.Class
	// Rule names the rule that decided, for people and the record, such as
	// "policy.skills.weather in the configuration".
	Rule string
	// Signatures is the number of different people who have to confirm the run: 0, 1
	// or 2.
	Signatures int
	// Each reports that every call is confirmed on its own: no answer covers a second.
	Each bool
	// Always reports that the person's rule wants one confirmation to cover all later
	// calls (approve: always).
	Always bool
	// Session reports that a confirmation covers at most the session of the client
	// (approve: session).
	Session bool
	// Trust is the workspace that a yes trusts, since the run needs that; nil is none.
	Trust *Trust
	// Fetch are the files of another MCP server that a yes fetches; nil is none. Nothing
	// runs then.
	Fetch *Fetch
	// Grown are the capabilities that the skill has gained since the person accepted it,
	// a line each; the run then needs a signature that accepts them. none is unchanged.
	Grown []string
	// Scan has the findings in the skill's files, in a line; "" is none.
	Scan string
	// Hook is the reason for which a hook wants a person asked; "" is none.
	Hook string
	// Ancestors are digests that the skill had earlier, and since which it has gained
	// nothing: an answer that covered one of them may cover this one. The newest is first.
	Ancestors []string
	// Calls are patterns of the skills that the script may call, of those that it
	// declares, as [skills.MatchesCall] reads them; none is no skill.
	Calls []string
	// Timeout bounds the run; 0 does not.
	Timeout time.Duration
	// Concurrent bounds the runs of the principal's profile at once; 0 does not.
	Concurrent int
	// Version identifies the rules that were applied: an approval that was given under
	// other rules does not count.
	Version string
}

// SecretLines returns a line for each grant of a secret.
func (d *Decision) SecretLines() []string {
	var lines []string
	for _, g := range d.Secrets {
		lines = append(lines, g.String())
	}
	return lines
}

// secretVariables returns the variables that hold secrets or their sentinels.
func (d *Decision) secretVariables() (names []string) {
	for _, g := range d.Secrets {
		names = append(names, g.Variable())
	}
	return names
}

// Trust is a workspace that the person may trust.
type Trust struct {
	// Workspace is its absolute path, and Folder identifies the folder there.
	Workspace string `json:"workspace"`
	Folder    string `json:"folder"`
	// Changes are the lines about what changes then.
	Changes []string `json:"changes,omitempty"`
}

// Fetch is a skill of another MCP server, in one version, that the person may consent to.
type Fetch struct {
	Server  string `json:"server"`  // the person's label
	Address string `json:"address"` // as the person wrote it
	URI     string `json:"uri"`
	// Set is the digest of all that the consent is about: each file, with its digest.
	Set   string `json:"set"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"` // of all files
}

// A Review describes an installation to the person who is asked about it.
type Review struct {
	// Digest identifies the content, the place that it comes from, and what it could do.
	Digest string `json:"digest"`
	// Lines are the lines of the question, the most important first. Those with a
	// stranger's text begin with "> ", and have codes for characters that are not seen.
	Lines []string `json:"lines"`
	// Summary is a line of this program's own words alone, which a model passes on.
	Summary string `json:"summary"`
}

// A Record is a proposal with its outcome.
type Record struct {
	*Proposal
	Outcome *Outcome // nil: no command has started
	Err     error    // an [*Error], or nil
}

// Environ is the [Variables] of a fixed list of "NAME=value", the same for every
// principal.
type Environ []string

// Values implements [Variables].
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
