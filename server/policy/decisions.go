package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Missing returns why a skill does not exist for a principal, or "".
func (p *Policy) Missing(ctx context.Context, who identity.Principal, skill *skills.Skill) string {
	page := p.options.Book.read(ctx)
	return p.missing(page, p.matches(page, subject{skill: skill}), who.Profile, skill)
}

// Assignment returns the person's decision about a skill for a profile; "" is everybody.
func (p *Policy) Assignment(ctx context.Context, profile string, skill *skills.Skill) Assignment {
	return p.options.Book.read(ctx).assignment(profile, skill)
}

// Assignments returns the person's decisions for a profile, in no order.
func (p *Policy) Assignments(ctx context.Context, profile string) (all []Assignment) {
	for _, a := range p.options.Book.read(ctx).assignments {
		if a.Profile == profile {
			all = append(all, a)
		}
	}
	return all
}

// Assign writes an assignment in place of the one of its profile and skill. One without a
// decision is removed.
func (p *Policy) Assign(ctx context.Context, a Assignment) error {
	var body any
	if a != (Assignment{Profile: a.Profile, Name: a.Name, Origin: a.Origin}) {
		body = &a
	}
	return p.options.Book.write(ctx, assignRow, a.key(), body)
}

// Profiles returns the names of the profiles of the configuration, sorted.
func (p *Policy) Profiles() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.options.Profiles)), func(name string) bool { return name == "" })
}

// Bounded returns why the configuration leaves a skill out of a profile, whatever the person
// assigns to it, or "".
func (p *Policy) Bounded(profile string, skill *skills.Skill) string {
	return p.bounded(profile, skill)
}

// Enable removes the rule of the person that disables a skill, or writes it. changed is
// false if there was none, or was one already. The error is a [*run.Error] where a
// principal lacks the skill still.
func (p *Policy) Enable(ctx context.Context, who identity.Principal, skill *skills.Skill, enabled bool) (changed bool, err error) {
	b, r := p.options.Book, Rule{Pattern: skill.QualifiedName(), Origin: skill.Origin().String()}
	if now := b.Of(ctx, skill); now != nil {
		r = *now
	}
	if changed = (r.Enabled == nil) != enabled; changed {
		var body any
		if !enabled {
			body = &entry{Pattern: r.Pattern, Origin: r.Origin}
		}
		if err := b.write(ctx, offRow, rowKey(r.Pattern, r.Origin), body); err != nil {
			return false, fmt.Errorf("write the rule: %w", err)
		}
	}
	why := p.Missing(ctx, who, skill)
	switch {
	case !enabled || why == "":
		return changed, nil
	case changed:
		return true, denied("your rule is removed, but %s is still not available: %s", r.Pattern, why)
	}
	return false, denied("%s cannot be enabled here: %s", r.Pattern, why)
}
