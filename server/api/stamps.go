package api

import (
	"context"
	"errors"
	"strconv"
)

// Stamps are texts that differ after a change of the skills, the approvals or the runs.
type Stamps struct{ Skills, Approvals, Runs string }

// Stamps returns the stamps, by two short queries.
func (s *Service) Stamps(ctx context.Context) (all Stamps, err error) {
	if s.options.Published != nil {
		all.Skills = strconv.FormatUint(s.options.Published(), 10)
	}
	var err1, err2 error
	all.Approvals, err1 = s.options.Approvals.Stamp(ctx)
	all.Runs, err2 = s.options.Runs.Stamp(ctx)
	return all, errors.Join(err1, err2)
}
