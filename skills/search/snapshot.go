package search

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A snapshot is the index of one catalog. It is not changed once it is published.
type snapshot struct {
	catalog *skills.Catalog
	*segment
}

// next returns the snapshot of another catalog, and how many skills came and went. Skills
// that both have are not read again. With the error of ctx, it is of a catalog that lacks
// skills.
func (s *snapshot) next(ctx context.Context, catalog *skills.Catalog, from *analyzers) (next *snapshot, changed int, err error) {
	gone, came := difference(s.catalog.Skills, catalog.Skills)
	if changed = len(gone) + len(came); changed == 0 {
		return &snapshot{catalog, s.segment}, 0, ctx.Err()
	}
	added, err := build(ctx, came, from)
	next = &snapshot{catalog, merge([]*segment{s.segment, added}, gone)}
	if err != nil {
		next.catalog = &skills.Catalog{}
		for _, d := range next.docs {
			next.catalog.Skills = append(next.catalog.Skills, d.skill)
		}
	}
	return next, len(gone) + len(added.docs), err
}

// difference returns the skills that only one of two catalogs has.
func difference(before, after []*skills.Skill) (gone map[*skills.Skill]bool, came []*skills.Skill) {
	gone = make(map[*skills.Skill]bool, len(before))
	for _, s := range before {
		gone[s] = true
	}
	for _, s := range after {
		if gone[s] {
			delete(gone, s)
		} else {
			came = append(came, s)
		}
	}
	return gone, came
}
