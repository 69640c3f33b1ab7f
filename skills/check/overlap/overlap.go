// Package overlap finds skills whose descriptions a model will confuse.
//
// Start with [Find].
package overlap

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Options configure [Find]. The zero value is usable.
type Options struct {
	// Threshold is the similarity from which skills are confused: the cosine of the
	// weighted words of their names and descriptions, 0 to 1. 0 is 0.5.
	Threshold float64
	// Most bounds the groups; 0 is 50.
	Most int
}

// Find returns groups of the skills that a model will confuse, the most similar first,
// and the number of groups above the bound. A skill is in one group at most. Tools of
// a skill and skills that a model may not call are not compared, and neither are two
// of which one says to use the other instead.
//
// The error is of ctx.
func Find(ctx context.Context, all []*skills.Skill, options *Options) (groups []Group, more int, err error) {
	o := Options{}
	if options != nil {
		o = *options
	}
	if o.Threshold == 0 {
		o.Threshold = 0.5
	}
	if o.Most == 0 {
		o.Most = 50
	}
	c := newCorpus(all)
	pairs, later, err := c.pairs(ctx, o.Threshold)
	if err != nil {
		return nil, 0, err
	}
	found := clusters(pairs, later)
	for _, cluster := range found[:min(len(found), o.Most)] {
		groups = append(groups, c.group(cluster))
	}
	return groups, len(found) - len(groups), nil
}
