package policy

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An Approver gets the confirmations that a decision needs.
type Approver interface {
	// Approve returns nil if the run may start, as many people as the proposal's
	// decision says having confirmed it. It sets the proposal's Approval. It must return
	// when ctx is done. The error is a [*run.Error].
	Approve(ctx context.Context, p *run.Proposal) error
	// Approved reports whether a yes of the person covers later calls of a skill, with any
	// arguments.
	Approved(ctx context.Context, who identity.Principal, skill *skills.Skill) bool
}

// Pins compares skills with the versions that the person accepted.
type Pins interface {
	// MayHaveGrown reports whether a skill may have gained something since the person
	// accepted it, as far as is known without reading anything.
	MayHaveGrown(skill *skills.Skill) bool
	// Grown returns the capabilities that the skill of a proposal has gained since the
	// person accepted it, a line each; none is unchanged. Ancestors are those of the
	// [run.Decision]. The error is a [*run.Error].
	Grown(ctx context.Context, p *run.Proposal) (grown, ancestors []string, err error)
	// Accepted records that people have confirmed the run of a proposal. The error is a
	// [*run.Error].
	Accepted(ctx context.Context, p *run.Proposal) error
}

// Workspaces knows the workspaces of skills.
type Workspaces interface {
	// Propose returns the trust in a workspace that a person is asked for. The error says
	// why the workspace cannot be trusted.
	Propose(workspace string) (*run.Trust, error)
}

// Options configure a [Policy]. The zero value is usable.
type Options struct {
	// Mode is "" for Confirm.
	Mode Mode
	// Rules are the rules of the person, and those of a workspace that narrow them. Of
	// rules of equal width the first counts.
	Rules []Rule
	// Live replaces Mode, Rules, Profiles and Hosts in policies that are used; nil does not.
	Live *Live
	// Book has more rules of the person, and the origins to which Rules belong; nil has
	// none.
	Book *Book
	// Profiles are the profiles by name; "" is the one that bounds every principal.
	Profiles map[string]Profile
	// Agents returns the profile of an agent, by its qualified name: the agents of a principal
	// bound it. nil has none.
	Agents func(name string) (Profile, bool)
	// Hosts are hosts that skills may be granted though they are not public.
	Hosts []egress.Rule
	// Variables are the names of the variables that every skill is given which names
	// them; nil is any.
	Variables []string
	// CodeNeedsGrant refuses code without a skill to which the person has given something.
	CodeNeedsGrant bool
	// Workspaces knows the workspaces that are not trusted: a skill of one that needs more
	// than a safe skill gets has the person asked to trust it. nil refuses such skills.
	Workspaces Workspaces
	// Pins knows the accepted versions of skills; nil accepts all.
	Pins Pins
	// Scan returns what the scan of a proposal's files found, in a line for the person who is
	// asked; "" is nothing. nil finds nothing.
	Scan func(p *run.Proposal) string
	// PersonOnly opens the skills that only a person may call to models, for tests.
	PersonOnly bool
	// Approver gets confirmations; without one, the runs that need some are refused.
	Approver Approver
}

// A Live has the part of the [Options] that a configuration decides, which may change while
// policies use it.
type Live struct{ now atomic.Pointer[Options] }

// Replace makes the mode, the rules, the profiles and the hosts of o count from now on.
func (l *Live) Replace(o *Options) { l.now.Store(o) }

// stop tells a model that only a person can change a refusal.
const stop = "tell the person, and do not try again"

func denied(format string, args ...any) *run.Error {
	return &run.Error{Code: run.PermissionDenied, Message: termtext.Visible(fmt.Sprintf(format, args...))}
}

func unconfirmed(format string, args ...any) *run.Error {
	return &run.Error{Code: run.ApprovalRequired, Message: termtext.Visible(fmt.Sprintf(format, args...))}
}
