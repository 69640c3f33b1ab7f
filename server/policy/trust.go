package policy

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// settleTrusted returns the terms of a subject, and its skill. For one of an untrusted
// workspace that is not safe, these are the terms after the person has trusted the
// workspace, and the skill as it is then.
func (p *Policy) settleTrusted(ctx context.Context, s subject) (*terms, *skills.Skill, error) {
	t, err := p.settle(ctx, s)
	if !s.skill.Untrusted() || err == nil && t.class == skills.Safe {
		return t, s.skill, err
	}
	trusted := *s.skill
	trusted.Trusted = true
	s.skill = &trusted
	if t, err = p.settle(ctx, s); err == nil {
		t.trust = true
	}
	return t, s.skill, err
}

// propose returns the trust that a run of a skill on terms needs. The error is a
// [*run.Error].
func (p *Policy) propose(t *terms, proposal *run.Proposal) (*run.Trust, error) {
	name, workspace := proposal.Skill.QualifiedName(), proposal.Skill.Workspace
	if p.options.Workspaces == nil || proposal.DryRun {
		return nil, unconfirmed("skill %s is %s, and of the workspace %s, whose skills are granted nothing before the person trusts it", name, t.class, workspace)
	}
	trust, err := p.options.Workspaces.Propose(workspace)
	if err != nil {
		return nil, denied("skill %s is %s, and of the workspace %s, which the person cannot trust: %v; tell them, and do not try again", name, t.class, workspace, err)
	}
	return trust, nil
}
