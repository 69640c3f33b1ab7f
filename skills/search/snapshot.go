package search

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A snapshot is the index of one catalog. It is not changed once it is published.
type snapshot struct {
	catalog *skills.Catalog
	// model has the skills that a model may call, and person the others: nothing of these
	// is in what a model's search computes.
	model, person *segment
}

// next returns the snapshot of another catalog. Skills that both have are not read again.
// The error is of ctx.
func (s *snapshot) next(ctx context.Context, catalog *skills.Catalog, from *analyzers) (*snapshot, error) {
	gone, came := difference(s.catalog.Skills, catalog.Skills)
	var model, person []*skills.Skill
	for _, skill := range came {
		if skill.ModelInvocable {
			model = append(model, skill)
		} else {
			person = append(person, skill)
		}
	}
	forModel, err := build(ctx, model, from)
	if err != nil {
		return nil, err
	}
	forPerson, err := build(ctx, person, from)
	if err != nil {
		return nil, err
	}
	return &snapshot{
		catalog: catalog,
		model:   merge([]*segment{s.model, forModel}, gone),
		person:  merge([]*segment{s.person, forPerson}, gone),
	}, nil
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
