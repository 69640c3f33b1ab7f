package exposure

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// With returns what [Choose] would, if all that it was given is as it was but for
// skills that others took the places of. It returns nil where it cannot tell
// without choosing again: where the result was close, or one of them is asked for.
func (e *Exposure) With(by map[*skills.Skill]*skills.Skill) *Exposure {
	if len(by) == 0 {
		return e
	}
	if !e.settled {
		return nil
	}
	next := *e
	next.order, next.hidden = slices.Clone(e.order), slices.Clone(e.hidden)
	for old, skill := range by {
		at := slices.Index(e.order, old)
		if at < e.asked || !alike(old, skill) {
			return nil
		}
		next.order[at] = skill
		if at := slices.Index(e.hidden, old); at >= 0 {
			next.hidden[at] = skill
		}
	}
	return &next
}

// alike reports whether one skill is chosen as the other is, where nobody asks
// for it. Who the configuration pins, or was used, is a matter of the name.
func alike(a, b *skills.Skill) bool {
	return a.QualifiedName() == b.QualifiedName() && a.ModelInvocable == b.ModelInvocable &&
		a.Unavailable == b.Unavailable && a.Pinned == b.Pinned
}
