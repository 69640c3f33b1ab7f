package policy

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
)

// settleTrusted returns the terms of a subject, and its skill. For one of an untrusted
// workspace that is not safe, these are the terms after the person has trusted the
// workspace, and the skill as it is then.
func (p *settler) settleTrusted(ctx context.Context, s subject) (*terms, *skills.Skill, error) {
	t, err := p.settle(ctx, s)
	if !s.skill.Untrusted() || err == nil && t.class == skills.Safe || p.absent(ctx, s) != "" {
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
