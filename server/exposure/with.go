package exposure

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// With returns the exposure that [Choose] would, after skills were replaced by others. It
// returns nil if Choose is needed: if the result depends on the cost of each skill, or
// one of them has a level before byNobody.
//
// It is a second way for its price: of 10,000 skills one changed costs a publication
// 3 ms with it and 28 ms without (BenchmarkChange in server), of the 100 ms and a few
// that a change notice takes.
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

// alike reports whether two skills at byNobody get the same decision. Pins of the
// configuration and uses depend on the name alone.
func alike(a, b *skills.Skill) bool {
	return a.QualifiedName() == b.QualifiedName() && a.ModelInvocable == b.ModelInvocable &&
		a.Unavailable == b.Unavailable && (a.Blocked == "") == (b.Blocked == "") && a.Pinned == b.Pinned
}
