package install

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A Status is the state of an entry at its source.
type Status struct {
	Path      string // of the entry in the lock
	Installed *lock.State
	// Revision is the one that the source has now; "" if it has no such thing.
	Revision string
	Outdated bool
	// Err says why the source could not be asked; nil if it was.
	Err error
}

// Outdated asks the sources of entries for their revisions, several at a time. Names
// choose entries; none is all.
func (i *Installer) Outdated(ctx context.Context, names ...string) ([]Status, error) {
	f, err := i.settled(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(f, names)
	if err != nil {
		return nil, err
	}
	asked := i.ask(ctx, f, chosen)
	var all []Status
	for _, p := range chosen {
		all = append(all, status(p, &f.Entries[p].State, asked))
	}
	return all, ctx.Err()
}

// status compares an entry with the answers of its sources.
func status(p string, state *lock.State, asked map[source.Source]answer) Status {
	now := asked[asOne(state)]
	s := Status{Path: p, Installed: state, Revision: now.revision, Err: now.err}
	s.Outdated = now.err == nil && now.revision != state.Revision
	if o := state.Origin; o != nil && s.Err == nil && !s.Outdated {
		from := asked[o.Source]
		s.Revision, s.Err = from.revision, from.err
		s.Outdated = from.err == nil && from.revision != o.Revision
	}
	return s
}

// An answer is the revision that a source has now.
type answer struct {
	revision string
	err      error
}

// maxAsked bounds the sources that are asked at the same time.
const maxAsked = 8

// ask asks each source of some entries once.
func (i *Installer) ask(ctx context.Context, f *lock.File, chosen []string) map[source.Source]answer {
	all := map[source.Source]answer{}
	for _, p := range chosen {
		all[asOne(&f.Entries[p].State)] = answer{}
		if o := f.Entries[p].Origin; o != nil {
			all[o.Source] = answer{}
		}
	}
	sources := slices.Collect(maps.Keys(all))
	answers := make([]answer, len(sources))
	_ = parallel(len(sources), maxAsked, func(n int) error { // an answer has its error
		answers[n] = i.revision(ctx, sources[n])
		return nil
	})
	for n, s := range sources {
		all[s] = answers[n]
	}
	return all
}

// asOne returns the source of an entry, with the skill's name where each skill of a source
// has a revision of its own.
func asOne(state *lock.State) source.Source {
	s := state.Source
	if s.Kind == source.Index {
		s.Name = state.Name
	}
	return s
}

func (i *Installer) revision(ctx context.Context, s source.Source) answer {
	fetcher, err := i.fetcher(s)
	if err != nil {
		return answer{err: err}
	}
	revision, err := fetcher.Revision(ctx, s)
	return answer{revision, err}
}

// Update yields a plan for each source that has another version than the installed one,
// and an [*EntryError] for each that cannot be fetched. Names choose entries, as
// for [Installer.Uninstall]; none is all. Entries of one source change together. The caller
// closes each plan before the next.
func (i *Installer) Update(ctx context.Context, progress func(done, total int64), names ...string) iter.Seq2[*Plan, error] {
	return func(yield func(*Plan, error) bool) {
		all, err := i.Outdated(ctx, names...)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, group := range bySource(all) {
			plan, err := i.updateGroup(ctx, group, progress)
			if (plan != nil || err != nil) && !yield(plan, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// bySource groups entries that may have another version, and those whose source could not
// be asked. One without revisions is known only once it is fetched.
func bySource(all []Status) (groups [][]Status) {
	at := map[source.Source]int{}
	for _, s := range all {
		if !s.Outdated && s.Err == nil && s.Revision != "" {
			continue
		}
		from := s.Installed.Source
		if _, known := at[from]; !known {
			at[from] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[from]] = append(groups[at[from]], s)
	}
	return groups
}

// updateGroup returns a plan for entries of one source; nil if their files are the same.
func (i *Installer) updateGroup(ctx context.Context, group []Status, progress func(done, total int64)) (*Plan, error) {
	var paths []string
	var errs []error
	for _, s := range group {
		paths, errs = append(paths, s.Path), append(errs, s.Err)
	}
	err := firstError(errs...)
	var plan *Plan
	if err == nil {
		plan, err = i.plan(ctx, func(b *planner) error {
			o := i.orderFor(group, progress)
			b.Source = o.Source
			return b.add(ctx, o)
		})
	}
	if err != nil {
		return nil, &EntryError{paths, err}
	}
	return i.news(ctx, plan, paths)
}

// orderFor returns the order for the newest version of installed entries.
func (i *Installer) orderFor(group []Status, progress func(done, total int64)) order {
	first := group[0].Installed
	o := order{entries: map[string]string{}}
	// Somebody else may have written the lock of a project. Its sources count as named all
	// the same: teams have private servers, and no byte is accepted unless the lock has its
	// digest, or the person says yes.
	o.Request = source.Request{Source: first.Source, Named: true, Progress: progress}
	for _, s := range group {
		o.Names = append(o.Names, s.Installed.Name)
	}
	o.choose = func(f *finding) (chosen []candidate, err error) {
		for _, s := range group {
			c, err := f.again(s.Installed)
			if err != nil {
				return nil, err
			}
			o.entries[key(c.Kind, c.Path, c.Name)] = s.Path
			chosen = append(chosen, c)
		}
		return chosen, nil
	}
	return o
}

// again returns the candidate that an installed version was: the one at its path, or else
// of its name.
func (f *finding) again(was *lock.State) (candidate, error) {
	for _, same := range []func(c candidate) bool{
		func(c candidate) bool { return c.Path == was.Path && c.Name == was.Name },
		func(c candidate) bool { return c.Path == was.Path && !(c.market != nil && c.market.Folder == "") },
		func(c candidate) bool { return c.Name == was.Name },
	} {
		for _, c := range f.all {
			if c.Kind == was.Kind && same(c) {
				return c, nil
			}
		}
	}
	if err := f.nothing(was.Name); errors.As(err, new(*source.RefusedError)) {
		return candidate{}, err
	}
	return candidate{}, &source.RefusedError{Reason: fmt.Sprintf("the source has no %s %q any more", was.Kind, was.Name), Remedy: "uninstall it, or leave it as it is"}
}

// news returns a plan without the items that are as they were. Of these it writes the new
// revisions, because nothing is to be asked.
func (i *Installer) news(ctx context.Context, plan *Plan, paths []string) (*Plan, error) {
	same := map[string]*lock.State{}
	plan.Items = slices.DeleteFunc(plan.Items, func(item *Item) bool {
		if item.Replaces == nil || item.Replaces.Digest != item.State.Digest || len(item.Edited) > 0 {
			return false
		}
		same[item.Path] = item.State
		return true
	})
	err := i.refresh(ctx, same)
	if len(plan.Items) == 0 || err != nil {
		if err = errors.Join(err, plan.Close()); err != nil {
			err = &EntryError{paths, err}
		}
		return nil, err
	}
	return plan, nil
}

// refresh writes where entries were found again, with the same files.
func (i *Installer) refresh(ctx context.Context, same map[string]*lock.State) error {
	if len(same) == 0 {
		return nil
	}
	return i.change(ctx, func(c *change) error {
		for p, now := range same {
			if e := c.File.Entries[p]; e != nil && e.Digest == now.Digest {
				e.Revision, e.Path, e.Origin = now.Revision, now.Path, now.Origin
			}
		}
		return c.Write()
	})
}
