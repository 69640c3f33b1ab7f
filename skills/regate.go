package skills

import "slices"

// Regated is [Catalog.Gated] where before is a catalog that was gated to be after,
// and every place is as it was then. Skills that before has too are taken from
// after, so that who knows after sees what changed and no more.
func (c *Catalog) Regated(before, after *Catalog, where func(*Skill) Place) *Catalog {
	if c == before {
		return after
	}
	by, same := c.Replaced(before)
	if !same || related(by) {
		return c.Gated(where)
	}
	next := slices.Clone(c.Skills)
	for i, s := range c.Skills {
		if old := before.Skills[i]; s == old {
			next[i] = after.Skills[i]
		} else if copied := s.gated(where); copied != nil {
			next[i] = copied
		}
	}
	return c.with(next)
}

// related reports whether there is a skill among them that others know.
func related(by map[*Skill]*Skill) bool {
	for old, next := range by {
		if old.Of != nil || next.Of != nil || len(old.Tools)+len(next.Tools) > 0 {
			return true
		}
	}
	return false
}
