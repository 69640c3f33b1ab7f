package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
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
	var workers sync.WaitGroup
	var mu sync.Mutex // guards all, once the workers run
	slots := make(chan struct{}, maxAsked)
	for _, s := range slices.Collect(maps.Keys(all)) {
		workers.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found := i.revision(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			all[s] = found
		})
	}
	workers.Wait()
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
	fetcher := i.options.Fetchers[s.Kind]
	if fetcher == nil {
		return answer{err: fmt.Errorf("this program has no way to fetch sources of the kind %q", s.Kind)}
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
	o.Request = source.Request{Source: first.Source, Named: !i.target.Project, Progress: progress}
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
	c, err := i.begin(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for p, now := range same {
		if e := c.File.Entries[p]; e != nil && e.Digest == now.Digest {
			e.Revision, e.Path, e.Origin = now.Revision, now.Path, now.Origin
		}
	}
	return c.Write()
}

// Rollback returns a plan that exchanges an entry, with all of its group, for the version
// before its last update. It needs no network.
func (i *Installer) Rollback(ctx context.Context, name string) (*Plan, error) {
	return i.plan(ctx, func(b *planner) error {
		f, err := i.settled(ctx)
		if err != nil {
			return err
		}
		chosen, err := choose(f, []string{name})
		if err != nil {
			return err
		}
		for _, p := range chosen {
			if err := b.takeBack(p, f.Entries[p]); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeBack stages the previous version of an entry.
func (b *planner) takeBack(p string, e *lock.Entry) error {
	l, err := b.installer.target.layout()
	if err != nil {
		return err
	}
	if e.Previous == nil {
		return &EntryError{[]string{p}, &source.RefusedError{Reason: "there is no earlier version of it", Remedy: "install the one that you want by its version"}}
	}
	tree, err := skillfs.DirFS(b.installer.target.Dir).HoldSub(l.previous(p, e.Previous.Digest))
	if errors.Is(err, fs.ErrNotExist) {
		return &EntryError{[]string{p}, errors.New("the earlier version is gone; install it by its version")}
	} else if err != nil {
		return err
	}
	defer tree.Close()
	dir := path.Join(fmt.Sprint(len(b.Items)), path.Base(p))
	state := *e.Previous
	b.Items, b.dirs = append(b.Items, &Item{Path: p, State: &state, locked: e.Previous}), append(b.dirs, dir)
	return b.stager.copyFolder(tree, ".", dir, nil)
}

// Locked returns a plan that makes the target what the lock file says, with the
// same revisions and digests. Entries that are right already are not fetched and not in
// the plan, which may be empty. The error names the entry that cannot be had so.
func (i *Installer) Locked(ctx context.Context, progress func(done, total int64)) (*Plan, error) {
	f, err := i.settled(ctx)
	if err != nil {
		return nil, err
	}
	wrong, err := i.wrong(ctx, f)
	if err != nil {
		return nil, err
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
	case source.Git, source.ClawHub, source.OCI, source.NPM:
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
