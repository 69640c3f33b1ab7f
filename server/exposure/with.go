package exposure

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// With returns the exposure that [Choose] would, after skills were replaced by others. It
// returns nil if Choose is needed: if the rank of one has changed.
//
// It is a second way for its price: of 10,000 skills one changed costs a publication
// 3 ms with it and 28 ms without (BenchmarkChange in server), of the 100 ms and a few
// that a change notice takes.
func (e *Exposure) With(by map[*skills.Skill]*skills.Skill) *Exposure {
	if len(by) == 0 {
		return e
	}
	next := *e
	next.order, next.queue, next.hidden, next.tools = slices.Clone(e.order), slices.Clone(e.queue), slices.Clone(e.hidden), slices.Clone(e.tools)
	asked := false
	for old, skill := range by {
		if !alike(old, skill) {
			return nil
		}
		replace(next.order, old, skill)
		replace(next.hidden, old, skill)
		replace(next.tools, old, skill)
		if at := slices.IndexFunc(next.queue, func(r ranked) bool { return r.skill == old }); at >= 0 {
			next.queue[at].skill = skill
			_, looked := e.looked[next.queue[at].name]
			asked = asked || looked
		}
	}
	if asked {
		next.fill()
	}
	return &next
}

// replace replaces a skill in a list, if it is there.
func replace(list []*skills.Skill, old, skill *skills.Skill) {
	if at := slices.Index(list, old); at >= 0 {
		list[at] = skill
	}
}

// alike reports whether two skills have the same rank, and can be tools or cannot. Pins
// of the configuration and uses depend on the name alone.
func alike(a, b *skills.Skill) bool {
	return a.QualifiedName() == b.QualifiedName() && a.ModelInvocable == b.ModelInvocable &&
		a.Unavailable == b.Unavailable && (a.Blocked == "") == (b.Blocked == "") && a.Pinned == b.Pinned && a.PinnedByPerson == b.PinnedByPerson && a.Priority == b.Priority &&
		a.Source == b.Source && a.Plugin == b.Plugin && a.Untrusted() == b.Untrusted() && (a.Of == nil) == (b.Of == nil)
}
