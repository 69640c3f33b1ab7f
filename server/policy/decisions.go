package policy

import (
	"context"
	"fmt"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Missing returns why a skill does not exist for a principal, or "".
func (p *Policy) Missing(ctx context.Context, who identity.Principal, skill *skills.Skill) string {
	return p.absent(ctx, subject{skill: skill, who: who})
}

// Pin keeps the tool of a skill, or no longer. It grants nothing.
func (p *Policy) Pin(ctx context.Context, skill *skills.Skill, pinned bool) error {
	tool := pin{skill.QualifiedName(), skill.Origin().String()}
	var body any
	if pinned {
		body = tool
	}
	return p.current().Book.write(ctx, pinRow, rowKey(tool.Name, tool.Origin), body)
}

// Enable removes the rule of the person that disables a skill, or writes it. changed is
// false if there was none, or was one already. The error is a [*run.Error] where a
// principal lacks the skill still.
func (p *Policy) Enable(ctx context.Context, who identity.Principal, skill *skills.Skill, enabled bool) (changed bool, err error) {
	b := p.current().Book
	r := b.RuleOf(ctx, skill)
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
