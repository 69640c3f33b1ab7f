package approval

import (
	"context"
	"math"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// Standing returns a function that reads the given approvals for a [run.Standing]. Those that
// cannot be read let nothing run.
func Standing(a *Approvals) func(context.Context) run.Standing {
	return func(ctx context.Context) run.Standing { return standing(ctx, a) }
}

// standing is Standing for one list.
func standing(ctx context.Context, a *Approvals) run.Standing {
	all, err := a.book.find(ctx, store.DecisionFilter{State: Given})
	if err != nil {
		a.options.Logger.Warn("the approvals cannot be read", "error", err)
	}
	given := map[string][]*Record{} // by subject
	for _, r := range all {
		if r.State == Given && r.current() && r.Scope != Once {
			given[r.Subject] = append(given[r.Subject], r)
		}
	}
	return func(p *run.Proposal, complete func() error) string {
		if len(given) == 0 { // for most, and fast
			return ""
		}
		all := slices.DeleteFunc(slices.Concat(given[subject(p)], given[pluginSubject(p.Skill)]), func(r *Record) bool { return r.Owner != ownerOf(p.Principal) })
		if len(all) == 0 || complete() != nil {
			return ""
		}
		return widest(a, newCall(p, &a.options), all)
	}
}

// widest returns the words for the widest of some approvals that covers calls like one.
func widest(a *Approvals, c *call, all []*Record) string {
	for _, kind := range []struct {
		scope Scope
		words string
	}{{Always, ", always until it changes"}, {Session, " for this session"}, {WholePlugin, " with all skills of the plugin"}, {BelowFolder, " for paths below "}, {Same, " for these arguments"}} {
		for _, r := range all {
			b := c.every
			b.Args = r.Binding.Args
			if r.Scope != kind.scope || !a.concerns(r, c) || !lasts(a.memory, r, c, b) {
				continue
			}
			if kind.scope == BelowFolder {
				kind.words += folder(a.options.Home, r.Question.Below.Folder, math.MaxInt)
			}
			return "approved" + kind.words
		}
	}
	return ""
}
