package policy

import (
	"context"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An Outlook is the decision about a call of a skill that nobody makes.
type Outlook struct {
	// Callers names the callers for whom it is the same, for people.
	Callers  []string
	Decision *run.Decision // nil: it would be refused
	Refused  *run.Error
	Approved string // the calls that a given approval covers; "" is none
}

// Outlooks returns what calls of a skill would meet: of a model, of its code that has the
// skill's grant, of a person who picks it in a client, and of the person on the command line; with the profile, if it is not "".
// digest and folder belong to a snapshot of the skill; approved is [run.Approved].
func (p *Policy) Outlooks(ctx context.Context, skill *skills.Skill, profile, digest, folder string, workspaces []string, approved func(identity.Principal, *skills.Skill) string) []Outlook {
	if own := p.Workspace(ctx, identity.Principal{Profile: profile}); own != "" {
		workspaces = []string{own}
	}
	proposal := run.Proposal{Action: run.ActionSkill, Skill: skill, Digest: digest, Folder: folder, Workspaces: workspaces, DryRun: true}
	model, code, picked, person := proposal, proposal, proposal, proposal
	model.Principal = identity.Principal{Kind: identity.Model, Profile: profile}
	code.Principal, code.Action = model.Principal, run.ActionCode
	picked.Principal, picked.Picked = model.Principal, true
	person.Principal = identity.Principal{Kind: identity.Person, Profile: profile}
	var all []Outlook
	for _, caller := range []struct {
		name string
		*run.Proposal
	}{{"a model, by a tool", &model}, {"a model, by run_code", &code}, {"a person, by a prompt of a client", &picked}, {"you, on the command line", &person}} {
		d, err := p.Decide(ctx, caller.Proposal)
		if caller.Action == run.ActionCode && (err != nil || d.Signatures == 0) {
			continue // the skill gives code nothing
		}
		next := Outlook{Callers: []string{caller.name}, Decision: d}
		if err != nil {
			next.Decision, next.Refused = nil, run.AsError(err)
		} else if caller.Action == run.ActionSkill && d.Signatures > 0 && skill.Entry != nil {
			next.Approved = approved(caller.Principal, skill)
		}
		if at := slices.IndexFunc(all, next.equal); at >= 0 {
			all[at].Callers = append(all[at].Callers, caller.name)
		} else {
			all = append(all, next)
		}
	}
	return all
}

// equal reports whether two outlooks are the same. The decision about a skill does not
// depend on the caller, but for whether there is one.
func (o Outlook) equal(other Outlook) bool {
	if o.Refused != nil || other.Refused != nil {
		return o.Refused != nil && other.Refused != nil && o.Refused.Message == other.Refused.Message
	}
	return o.Approved == other.Approved && o.Decision.Version == other.Decision.Version && o.Decision.Session == other.Decision.Session
}

// Foreign returns the rules that name a skill and do not count for it, since they belong to
// the skill of another origin: a line each.
func (p *Policy) Foreign(ctx context.Context, skill *skills.Skill) []string {
	return apply(p.matches(p.current().Book.read(ctx), subject{skill: skill, accepted: true}), skill).foreign
}

// Adopt makes the rules that name a skill and belong to another origin count for this one.
func (p *Policy) Adopt(ctx context.Context, skill *skills.Skill) error {
	origin := skill.Origin().String()
	for _, m := range p.matches(p.current().Book.read(ctx), subject{skill: skill, accepted: true}) {
		if m.owner == "" || m.owner == origin {
			continue
		}
		if err := p.current().Book.assign(ctx, m.Pattern, skill.QualifiedName(), origin); err != nil {
			return err
		}
	}
	return nil
}
