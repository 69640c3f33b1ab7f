// Package policy decides which calls run, and with which grant, by the class of their
// skill: a safe skill runs with read-only workspaces; any other class runs only if a
// person confirms the call, with writable workspaces and the hosts that it declares.
//
// Start with [New], whose result is the decider of package run.
package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An Approver gets the confirmations that a decision needs.
type Approver interface {
	// Approve returns nil if the run may start, as many people as the proposal's
	// decision says having confirmed it. It sets the proposal's Approval. It must return
	// when ctx is done. The error is a [*run.Error].
	Approve(ctx context.Context, p *run.Proposal) error
}

// Options configure a [Policy]. The zero value is usable.
type Options struct {
	// Hosts are the hosts that skills may be granted. A skill is granted those that it
	// declares.
	Hosts []egress.Rule
	// Approver confirms a person's own calls; without one they are refused. Calls of
	// others are never confirmed.
	Approver Approver
}

// A Policy is a [run.Decider]. It may be used concurrently.
type Policy struct{ options Options }

// New returns a policy. Options may be nil.
func New(options *Options) *Policy {
	p := &Policy{}
	if options != nil {
		p.options = *options
	}
	return p
}

// MayAsk implements [run.Decider].
func (p *Policy) MayAsk(_ identity.Principal, skill *skills.Skill) bool {
	return skill.Class != skills.Safe
}

// Decide implements [run.Decider]. The refusals name no command: a model that has a
// shell would run it.
func (p *Policy) Decide(_ context.Context, proposal *run.Proposal) (*run.Decision, error) {
	if proposal.Action != run.ActionSkill {
		return decideFolder(proposal)
	}
	skill := proposal.Skill
	if !byPerson(proposal) && !proposal.Picked && !skill.ModelInvocable {
		return nil, denied("skill %s may be called by a person only; tell them what you would call it for", skill.QualifiedName())
	}
	hosts, err := p.hosts(skill)
	if err != nil {
		return nil, err
	}
	if skill.Class == skills.Safe {
		return &run.Decision{Grant: sandbox.Grant{Workspaces: proposal.Workspaces}, Variables: variables(skill)}, nil
	}
	if !proposal.DryRun {
		if _, err := p.approver(proposal); err != nil {
			return nil, err
		}
	}
	grant := sandbox.Grant{Workspaces: proposal.Workspaces, Write: true, Hosts: hosts}
	return &run.Decision{Grant: grant, Variables: variables(skill)}, nil
}

// Approve implements [run.Decider].
func (p *Policy) Approve(ctx context.Context, proposal *run.Proposal) error {
	if proposal.Action != run.ActionSkill || proposal.Skill.Class == skills.Safe {
		return nil
	}
	approver, err := p.approver(proposal)
	if err != nil {
		return err
	}
	return approver.Approve(ctx, proposal)
}

// decideFolder decides about code, or a session, that has a skill's folder at hand. Its
// grant is that of a safe skill, whatever the class of this one is: the code is the
// model's own.
func decideFolder(p *run.Proposal) (*run.Decision, error) {
	if p.Skill != nil && !p.Skill.ModelInvocable {
		return nil, denied("skill %s may be called by a person only", p.Skill.QualifiedName())
	}
	return &run.Decision{Grant: sandbox.Grant{Workspaces: p.Workspaces}}, nil
}

// approver returns the approver of a call whose skill is not safe. A client's call
// has none, also if a person is said to have picked the skill there: it may be a model
// in disguise.
func (p *Policy) approver(proposal *run.Proposal) (Approver, error) {
	skill := proposal.Skill
	switch {
	case !byPerson(proposal):
		return nil, unconfirmed("skill %s is %s, so only a person can start it, on a terminal of their own; tell them which arguments to give it, and do not try again", skill.QualifiedName(), skill.Class)
	case p.options.Approver == nil:
		return nil, unconfirmed("skill %s is %s, so it runs only when a person says yes to it on a terminal, and this is none", skill.QualifiedName(), skill.Class)
	}
	return p.options.Approver, nil
}

func byPerson(p *run.Proposal) bool { return p.Principal.Kind == identity.Person }

// hosts returns the hosts that a skill declares. The error, a [*run.Error], names the
// first one that is not granted: without it the script would fail, and nobody would
// know why.
func (p *Policy) hosts(skill *skills.Skill) ([]string, error) {
	if skill.Entry == nil || len(skill.Entry.Network) == 0 {
		return nil, nil
	}
	name := skill.QualifiedName()
	if skill.Class == skills.Safe {
		return nil, denied("skill %s declares network, but its class is safe, and a safe skill gets none; whoever maintains it has to declare class: mutating", name)
	}
	if skill.Workspace != "" {
		return nil, denied("skill %s connects to %s, and is of the workspace %s, whose skills are granted no hosts; ask the person whether to name its folder under skills in the configuration", name, strings.Join(skill.Entry.Network, ", "), skill.Workspace)
	}
	var hosts []string
	for _, declared := range skill.Entry.Network {
		rule, err := egress.ParseRule(declared)
		if err != nil {
			return nil, &run.Error{Code: run.Unavailable, Message: fmt.Sprintf("skill %s cannot run: sandbox.network: %v", name, err), Err: err}
		}
		if !slices.ContainsFunc(p.options.Hosts, func(granted egress.Rule) bool { return granted.Covers(rule) }) {
			return nil, denied("skill %s connects to %s, which is not granted; ask the person whether to add %q to sandbox.network.allow in the configuration", name, rule, rule)
		}
		hosts = append(hosts, rule.String())
	}
	return hosts, nil
}

// variables returns the names of the variables that a skill may be given: those that it
// names, and none for a skill of a workspace, whose author may be a stranger.
func variables(skill *skills.Skill) []string {
	if skill.Workspace != "" || skill.Entry == nil {
		return nil
	}
	return slices.Concat(skill.Entry.Env, skill.Requires.Env)
}

func denied(format string, args ...any) error {
	return &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf(format, args...)}
}

func unconfirmed(format string, args ...any) error {
	return &run.Error{Code: run.ApprovalRequired, Message: fmt.Sprintf(format, args...)}
}
