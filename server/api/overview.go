package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// An Overview has the results of the scan other than skills.
type Overview struct {
	Skills   int              // that are published
	Problems []skills.Problem // errors first
	Shadowed []skills.Shadow  // skills whose name another one has
}

// Overview returns the results of the scan, for a person.
func (s *Service) Overview(ctx context.Context) (*Overview, error) {
	if err := onlyPersons(ctx); err != nil {
		return nil, err
	}
	view, err := s.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	o := &Overview{Skills: len(view.Catalog.Skills), Problems: slices.Clone(view.Catalog.Problems), Shadowed: view.Shadowed}
	weight := map[skills.Severity]int{skills.Error: 0, skills.Warning: 1, skills.Note: 2}
	slices.SortStableFunc(o.Problems, func(a, b skills.Problem) int { return cmp.Compare(weight[a.Severity], weight[b.Severity]) })
	return o, nil
}
