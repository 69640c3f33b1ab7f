package install

import (
	"cmp"
	"context"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Locked returns a plan that makes the target what the lock file says, with the
// same revisions and digests. Entries that are right already are not fetched and not in
// the plan, which may be empty. The error names the entry that cannot be had so.
func (i *Installer) Locked(ctx context.Context, progress func(done, total int64)) (*Plan, error) {
	f, err := i.settled(ctx)
	if err != nil {
		return nil, err
	}
	wrong, err := i.wrong(ctx, f)
	switch {
	case err != nil:
		return nil, err
	case len(wrong) == 0:
		return &Plan{Fetched: &source.Fetched{}, installer: i}, nil
	}
	return i.plan(ctx, func(b *planner) error {
		for _, group := range bySource(wrong) {
			if err := b.addLocked(ctx, i.lockedOrder(group, progress), group); err != nil {
				return err
			}
		}
		return nil
	})
}

// wrong returns the entries whose files differ from the lock, as if they were outdated.
func (i *Installer) wrong(ctx context.Context, f *lock.File) (all []Status, err error) {
	chosen, err := choose(f, nil)
	if err != nil {
		return nil, err
	}
	found, err := i.verify(ctx, f, chosen)
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		if len(all) == 0 || all[len(all)-1].Path != d.Path {
			all = append(all, Status{Path: d.Path, Installed: &f.Entries[d.Path].State, Outdated: true})
		}
	}
	return all, nil
}

// lockedOrder returns the order for the locked version of entries of one source.
func (i *Installer) lockedOrder(group []Status, progress func(done, total int64)) order {
	o := i.orderFor(group, progress)
	first := group[0].Installed
	o.Source = at(first.Source, first.Revision)
	o.origins = map[string]source.Source{}
	for _, s := range group {
		if from := s.Installed.Origin; from != nil {
			o.origins[s.Installed.Name] = at(from.Source, from.Revision)
		}
	}
	return o
}

// at returns a source at a revision, where the kind can be asked for one.
func at(s source.Source, revision string) source.Source {
	switch s.Kind {
	case source.Git, source.ClawHub, source.OCI:
		s.Ref = cmp.Or(revision, s.Ref)
	}
	return s
}

// addLocked adds the items of an order, which must be those of the lock.
func (b *planner) addLocked(ctx context.Context, o order, group []Status) error {
	before := len(b.Items)
	if err := b.add(ctx, o); err != nil {
		var paths []string
		for _, s := range group {
			paths = append(paths, s.Path)
		}
		return &EntryError{paths, err}
	}
	for _, item := range b.Items[before:] {
		for _, s := range group {
			if s.Path == item.Path {
				item.locked = s.Installed
			}
		}
	}
	return nil
}
