package pins

import (
	"context"
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A Comparison is a skill as it is now beside its accepted version.
type Comparison struct {
	Digest, Folder string
	Surface        *surface.Surface
	// Pin is the accepted version; nil if nobody has used the skill, for one of the
	// person's own that they have not approved, and for one of a trusted workspace that
	// asks for something no person has accepted. One without a digest was not written by
	// skills-mcp.
	Pin *Pin
	// Changes are the capabilities that it has gained and then those that it has lost.
	Changes []surface.Change
	// Diff is the difference of its files, as [surface.Diff] has it, or of its texts alone
	// where the accepted files are not kept.
	Diff string
}

// Grown reports whether a capability was gained.
func (c *Comparison) Grown() bool { return len(c.Changes) > 0 && !c.Changes[0].Gone }

// Changed reports whether the files differ from the accepted ones.
func (c *Comparison) Changed() bool { return c.Pin != nil && c.Pin.AcceptedDigest != c.Digest }

// Compare compares a skill with its accepted version. It records nothing.
func (p *Pins) Compare(ctx context.Context, skill *skills.Skill) (*Comparison, error) {
	skill = asRead(skill)
	digest, folder, err := p.snapshot(ctx, skill, "")
	if err != nil {
		return nil, err
	}
	c := &Comparison{Digest: digest, Folder: folder}
	if c.Surface, err = surface.Of(skill, skillfs.DirFS(folder)); err != nil {
		return nil, fmt.Errorf("compute the surface of skill %s: %w", skill.QualifiedName(), err)
	}
	s := subject{skill, skill.Origin().String(), digest, folder}
	pin, _, err := p.find(ctx, s.key)
	if err != nil || pin == nil || pin.AcceptedDigest != "" && len(s.unaccepted(pin)) > 0 {
		return c, err
	}
	c.Pin = pin
	c.Changes = c.Surface.Diff(pin.Surface)
	if !c.Changed() {
		return c, nil
	}
	before, now := "", skillfs.DirFS(folder)
	if pin.AcceptedDigest != "" { // not void
		_, before, _ = p.snapshot(ctx, skill, pin.AcceptedDigest)
	}
	if before != "" {
		c.Diff, err = surface.Diff(skillfs.DirFS(before), now, c.Surface.Entries)
	} else {
		c.Diff, err = pin.Surface.DiffTo(now, c.Surface.Entries)
	}
	return c, err
}

// Changed returns the skills of a catalog, without their tools, whose files differ from
// the accepted ones, with their comparisons.
func (p *Pins) Changed(ctx context.Context, catalog *skills.Catalog) (changed []*skills.Skill, all []*Comparison, err error) {
	pinned, err := p.store.DecisionKeys(ctx, kind)
	if err != nil {
		return nil, nil, err
	}
	for _, skill := range catalog.Skills {
		if skill.Of != nil || !pinned[skill.Origin().String()] {
			continue
		}
		c, err := p.Compare(ctx, skill)
		if err != nil {
			return nil, nil, err
		}
		if c.Changed() {
			changed, all = append(changed, skill), append(all, c)
		}
	}
	return changed, all, nil
}
