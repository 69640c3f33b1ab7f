// Package policy decides which calls run, with which grant and after whose
// confirmation, by the class of their skill, the mode, the profile of the principal and
// the rules of the person.
//
// Start with [New], whose result is the decider of package run.
package policy

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Policy is a [run.Decider]. It may be used concurrently.
type Policy struct{ settler }

// New returns a policy. Options may be nil.
func New(options *Options) *Policy {
	p := &Policy{}
	if options != nil {
		p.options = *options
	}
	p.options.Mode = cmp.Or(p.options.Mode, Confirm)
	return p
}

// MayAsk implements [run.Decider].
func (p *Policy) MayAsk(who identity.Principal, skill *skills.Skill) bool {
	if p.current().Pins != nil && p.current().Pins.MayHaveGrown(skill) {
		return true
	}
	t, _, err := p.settleTrusted(context.Background(), subject{skill: skill, who: who, accepted: true})
	return err == nil && t.signatures() > 0
}

// Decide implements [run.Decider]. The refusals name no command: a model that has a
// shell would run it.
func (p *Policy) Decide(ctx context.Context, proposal *run.Proposal) (*run.Decision, error) {
	skill := proposal.Skill
	switch {
	case skill == nil || skill.ModelInvocable || proposal.Way == run.WayHook:
	case proposal.Action == run.ActionSession:
		return nil, denied("skill %s may be called by a person only", skill.QualifiedName())
	case !byPerson(proposal) && !proposal.Picked:
		return nil, denied("skill %s may be called by a person only", skill.QualifiedName()).Told("tell them what you would call it for")
	}
	grown, ancestors, err := grownSince(ctx, p.current().Pins, proposal)
	if err != nil {
		return nil, err
	}
	var d *run.Decision
	switch proposal.Action {
	case run.ActionSkill:
		d, err = p.decideSkill(ctx, proposal, len(grown) == 0)
	case run.ActionCode:
		d, err = p.decideCode(ctx, proposal, len(grown) == 0)
	case run.ActionInstall:
		d, err = p.decideInstall(ctx, proposal)
	default:
		d, err = p.decideFolder(ctx, proposal)
	}
	if err != nil {
		return nil, err
	}
	d.Ancestors = ancestors
	// The person may edit a safe skill of theirs.
	if len(grown) > 0 && (d.Signatures > 0 || skill.Guarded()) {
		d.Grown, d.Signatures = grown, max(d.Signatures, 1)
	}
	if d.Signatures > 0 && skill != nil && proposal.Digest != "" && p.current().Scan != nil {
		d.Scan = p.current().Scan(proposal)
	}
	return d, nil
}

// grownSince returns the capabilities that the skill of a proposal has gained, and the
// decision's Ancestors. A preview has no files.
func grownSince(ctx context.Context, pins Pins, proposal *run.Proposal) (grown, ancestors []string, err error) {
	if pins == nil || proposal.Skill == nil || proposal.Digest == "" {
		return nil, nil, nil
	}
	return pins.Grown(ctx, proposal)
}

// decideSkill decides about the call of a skill. accepted says that it has gained nothing.
func (p *Policy) decideSkill(ctx context.Context, proposal *run.Proposal, accepted bool) (*run.Decision, error) {
	skill := proposal.Skill
	s := p.subject(proposal, accepted)
	t, trusted, err := p.settleTrusted(ctx, s)
	if err == nil && !proposal.DryRun && trusted == skill && p.bind(ctx, t, skill) {
		t, err = p.settle(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	own := p.current().own(ctx, s.who)
	d := &run.Decision{
		Grant:      sandbox.Grant{Workspaces: proposal.Workspaces, Write: t.write, Unprotected: t.paths, Hosts: t.hosts},
		Variables:  slices.Concat(p.variables(trusted, own.Env), t.env),
		Secrets:    t.secrets,
		Class:      t.class,
		Rule:       t.rule(),
		Signatures: t.signatures(),
		Each:       t.class == skills.Dangerous || t.approve == Each || t.approve == Once,
		Always:     t.approve == Always && t.class != skills.Dangerous,
		Session:    t.approve == Session,
		Calls:      t.calls,
		Timeout:    t.timeout,
		Concurrent: own.MaxConcurrent,
		Version:    t.version(),
	}
	for _, name := range d.Variables {
		if value, given := own.Env[name]; given {
			d.Values = append(d.Values, name+"="+value)
		}
	}
	if trusted != skill {
		d.Each = true
		if d.Trust, err = p.propose(t, proposal); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// decideCode decides about code: as about a call of its skill if that is asked about, and a
// rule of the person names it or a yes covers it. Else the code has its folder alone.
func (p *Policy) decideCode(ctx context.Context, proposal *run.Proposal, accepted bool) (*run.Decision, error) {
	folder, err := p.decideFolder(ctx, proposal)
	if err != nil || proposal.Skill == nil && !p.current().CodeNeedsGrant {
		return folder, err
	}
	if proposal.Skill == nil {
		return nil, denied("code runs here with a skill only to which the person has given something; name the one whose instructions you follow in \"skill\"")
	}
	t, _, err := p.settleTrusted(ctx, p.subject(proposal, accepted))
	switch {
	case t != nil && t.signatures() > 0 && (t.named || p.current().Approver != nil && p.current().Approver.Approved(ctx, proposal.Principal, proposal.Skill)):
		d, err := p.decideSkill(ctx, proposal, accepted)
		if d != nil { // a lasting yes would cover programs that nobody has seen
			d.Always, d.Session = false, true
		}
		return d, err
	case !p.current().CodeNeedsGrant:
		return folder, nil
	case err != nil:
		return nil, err
	}
	return nil, denied("the person has given skill %s nothing (no host, variable or writable workspace), so no code runs with it", proposal.Skill.QualifiedName()).Told("tell them what it needs, and do not try again")
}

// subject returns the subject of a proposal about a skill.
func (p *Policy) subject(proposal *run.Proposal, accepted bool) subject {
	return subject{skill: proposal.Skill, who: proposal.Principal, digest: proposal.Digest, accepted: accepted && p.current().Pins != nil}
}

// decideInstall decides about an installation, which each time needs people's yes, whatever
// a rule makes of its class.
func (p *Policy) decideInstall(ctx context.Context, proposal *run.Proposal) (*run.Decision, error) {
	t, err := p.settle(ctx, subject{skill: proposal.Skill, who: proposal.Principal, install: true})
	if err != nil {
		return nil, err
	}
	return &run.Decision{
		Class: skills.Dangerous, Rule: t.rule(), Signatures: t.signatures(), Each: true, Version: t.version(),
		Concurrent: p.current().own(ctx, proposal.Principal).MaxConcurrent,
	}, nil
}

// bind makes the rules of terms belong to the origin of a skill. It reports whether one
// belongs to another origin since.
func (p *Policy) bind(ctx context.Context, t *terms, skill *skills.Skill) (foreign bool) {
	if p.current().Book == nil {
		return false
	}
	origin := skill.Origin().String()
	for _, pattern := range t.unbound {
		foreign = p.current().Book.bind(ctx, pattern, skill.QualifiedName(), origin) != origin || foreign
	}
	return foreign
}

// decideFolder decides about code, or a session, that has a skill's folder at hand. Its
// grant is that of a safe skill, whatever the class of this one is: the code is the
// model's own.
func (p *Policy) decideFolder(ctx context.Context, proposal *run.Proposal) (*run.Decision, error) {
	tool := &skills.Skill{Name: string(run.WayCode)}
	if proposal.Action == run.ActionSession {
		tool.Name = string(run.WaySession)
	}
	for _, skill := range []*skills.Skill{tool, proposal.Skill} {
		if skill == nil {
			continue
		}
		if why := p.absent(ctx, subject{skill: skill, who: proposal.Principal, tool: skill == tool}); why != "" {
			return nil, denied("%s is not available: %s", skill.QualifiedName(), why).Told(stop)
		}
	}
	d := &run.Decision{Grant: sandbox.Grant{Workspaces: proposal.Workspaces}, Class: skills.Safe, Rule: "the class safe", Concurrent: p.current().own(ctx, proposal.Principal).MaxConcurrent}
	all, _ := p.current().bounds(p.current().Book.read(ctx), proposal.Principal)
	for _, b := range all {
		d.Timeout = shorter(d.Timeout, time.Duration(b.Timeout))
	}
	return d, nil
}

// Workspace returns the folder in place of the server's workspaces for the calls of a
// principal; "" is none.
func (p *Policy) Workspace(ctx context.Context, who identity.Principal) string {
	return p.current().own(ctx, who).Workspace
}

// Approve implements [run.Decider].
func (p *Policy) Approve(ctx context.Context, proposal *run.Proposal) error {
	switch d := proposal.Decision; {
	case d.Signatures == 0:
		return nil
	case p.current().Approver != nil:
		if err := p.current().Approver.Approve(ctx, proposal); err != nil || p.current().Pins == nil || proposal.Skill == nil {
			return err
		}
		return p.current().Pins.Accepted(ctx, proposal)
	case byPerson(proposal):
		return unconfirmed("skill %s is %s, so it runs only when a person says yes to it on a terminal, and this is none", proposal.Skill.QualifiedName(), d.Class)
	default:
		return unconfirmed("skill %s is %s, so only a person can start it, on a terminal of their own", proposal.Skill.QualifiedName(), d.Class).Told("tell them which arguments to give it, and do not try again")
	}
}

func byPerson(p *run.Proposal) bool { return p.Principal.Kind == identity.Person }

// Gives reports whether the rules give a skill a secret, or a variable if that is set, or a
// profile gives the variable.
func Gives(p *Policy, skill *skills.Skill, name string, set bool) bool {
	t := apply(p.matches(p.current().Book.read(context.Background()), subject{skill: skill, accepted: true}), skill)
	for _, profile := range p.current().NamedProfiles(context.Background()) { // a skill without it fails for others alone
		if _, given := profile.Env[name]; given {
			return true
		}
	}
	return set && slices.Contains(t.env, name) || slices.ContainsFunc(t.secrets, func(g run.SecretGrant) bool { return cmp.Or(g.Variable(), g.Name) == name })
}

// variables returns the names of the variables that a skill is given without a rule: of those
// that it names the ones that all skills are given or that a profile gives, and none for a
// skill of a stranger.
func (p *Policy) variables(skill *skills.Skill, given map[string]string) []string {
	if skill.Untrusted() || skill.Entry == nil {
		return nil
	}
	names := slices.Concat(skill.Entry.Env, skill.Requires.Env)
	if p.current().Variables == nil {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, own := given[name]
		return !own && !slices.Contains(p.current().Variables, name)
	})
}

// propose returns the trust that a run of a skill on terms needs. The error is a
// [*run.Error].
func (p *Policy) propose(t *terms, proposal *run.Proposal) (*run.Trust, error) {
	name, workspace := proposal.Skill.QualifiedName(), proposal.Skill.Workspace
	if p.current().Workspaces == nil || proposal.DryRun {
		return nil, unconfirmed("skill %s is %s, and of the workspace %s, whose skills are granted nothing before the person trusts it", name, t.class, workspace)
	}
	trust, err := p.current().Workspaces.Propose(workspace)
	if err != nil {
		return nil, denied("skill %s is %s, and of the workspace %s, which cannot be trusted: %v", name, t.class, workspace, err).Told(stop)
	}
	return trust, nil
}
