package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Prepare fetches a source and describes what an installation of it would change. The
// error is a [*source.ChoiceError] if the source has several skills and r chooses none, a
// [*ConflictError] for a name that is taken, and otherwise as that of [Fetcher]. The
// caller closes the plan.
func (i *Installer) Prepare(ctx context.Context, r source.Request) (*Plan, error) {
	r.Names = r.Wanted()
	return i.plan(ctx, func(b *planner) error {
		b.Source = r.Source
		return b.add(ctx, order{Request: r, choose: func(f *finding) ([]candidate, error) { return f.choose(r) }})
	})
}

// An order is a fetch of a plan.
type order struct {
	source.Request
	// choose returns the candidates to install.
	choose func(*finding) ([]candidate, error)
	// entries are the paths of the entries to replace, by the candidates' paths in the
	// source; a candidate without one is new.
	entries map[string]string
	// origins are the sources of plugins that a marketplace has elsewhere, by the
	// candidates' paths: instead of those that it names now.
	origins map[string]source.Source
}

// A planner makes a plan: it fetches, chooses and stages, and then describes.
type planner struct {
	*Plan
	stager *stager
	limits quarantine.Limits
	dirs   []string // of the items in the stager's folder
}

// plan returns the plan that fill makes. It is closed after an error.
func (i *Installer) plan(ctx context.Context, fill func(*planner) error) (plan *Plan, err error) {
	p := &Plan{Fetched: &source.Fetched{}, installer: i}
	c, err := i.begin(ctx)
	if err != nil {
		return nil, err
	}
	p.work, err = c.newWork()
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, explain(err, i.target)
	}
	defer func() {
		if err != nil {
			err = errors.Join(explain(err, i.target), p.Close())
		}
	}()
	limits := i.options.Limits
	if limits.Depth > 0 {
		limits.Depth += 2 // the folders of the items
	}
	if p.staged, err = quarantine.New(p.work.dir, &limits); err != nil {
		return nil, err
	}
	b := &planner{Plan: p, stager: &stager{ctx: ctx, folder: p.staged}, limits: i.options.Limits}
	if err = fill(b); err == nil {
		err = b.describe(ctx)
	}
	return p, err
}

// add fetches a source and stages what is chosen of it.
func (b *planner) add(ctx context.Context, o order) error {
	q, fetched, err := b.fetch(ctx, o.Request)
	if err != nil {
		return err
	}
	defer q.Close()
	found, err := find(ctx, q, fetched, sourceName(o.Source))
	if err != nil {
		return err
	}
	chosen, err := o.choose(found)
	if err != nil {
		return err
	}
	if chosen, err = b.intact(chosen, o.All); err != nil {
		return err
	}
	for _, c := range chosen {
		if err := b.take(ctx, o, c, fetched); err != nil {
			return err
		}
	}
	return nil
}

// intact returns the candidates without links that were left out of the quarantine. Another
// one is an error, but only a note where all were asked for and some are intact.
func (b *planner) intact(chosen []candidate, all bool) (intact []candidate, err error) {
	for _, c := range chosen {
		fault := c.leftOut.in(c.dir)
		if fault == nil {
			intact = append(intact, c)
			continue
		}
		err = fmt.Errorf("%s %s: %w", c.Kind, c.Name, fault)
		b.Fetched.Notes = append(b.Fetched.Notes, source.Note{Text: "left out: " + err.Error()})
	}
	if all && len(intact) > 0 {
		return intact, nil
	}
	return intact, err
}

// fetch fetches a source into a quarantine, which the caller closes.
func (b *planner) fetch(ctx context.Context, r source.Request) (*quarantine.Folder, *source.Fetched, error) {
	fetcher, err := b.installer.fetcher(r.Source)
	if err != nil {
		return nil, nil, err
	}
	q, err := quarantine.New(b.work.dir, &b.limits)
	if err != nil {
		return nil, nil, err
	}
	fetched, err := fetcher.Fetch(ctx, r, q)
	if err == nil {
		err = q.Seal()
	}
	if err != nil {
		return nil, nil, errors.Join(err, q.Close())
	}
	b.note(fetched, q)
	return q, fetched, nil
}

// fetcher returns the fetcher of a source.
func (i *Installer) fetcher(s source.Source) (Fetcher, error) {
	if f := i.options.Fetchers[s.Kind]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%s: this program has no way to fetch sources of the kind %q", s, s.Kind)
}

func (b *planner) note(f *source.Fetched, q *quarantine.Folder) {
	b.Fetched.Revision = cmp.Or(b.Fetched.Revision, f.Revision)
	b.Fetched.Trees = append(b.Fetched.Trees, f.Trees...)
	b.Fetched.Notes = append(b.Fetched.Notes, f.Notes...)
	b.Fetched.Checked = append(b.Fetched.Checked, f.Checked...)
	b.Fetched.Notes = append(b.Fetched.Notes, leftOut(q.LeftOut()).note()...)
	for _, text := range q.Notes() {
		b.Fetched.Notes = append(b.Fetched.Notes, source.Note{Text: text})
	}
}

// take stages a candidate as an item of the plan.
func (b *planner) take(ctx context.Context, o order, c candidate, fetched *source.Fetched) error {
	state := &lock.State{
		Name: c.Name, Kind: c.Kind, Source: o.Source, Path: c.Path, Checked: fetched.Checked,
		Revision:  cmp.Or(c.tree.Revision, fetched.Revision),
		Installed: b.installer.options.Now().UTC().Truncate(time.Second),
	}
	if c.market != nil && c.market.Err != nil {
		return fmt.Errorf("plugin %s: %w", c.Name, c.market.Err)
	}
	if c.market != nil && c.market.Folder == "" {
		return b.takeElsewhere(ctx, o, c, state)
	}
	return b.stage(o, c, state)
}

// takeElsewhere stages a plugin that its marketplace has at another source.
func (b *planner) takeElsewhere(ctx context.Context, o order, c candidate, state *lock.State) error {
	from, pinned := o.origins[state.Name]
	if !pinned {
		from = c.market.Source
	}
	q, fetched, err := b.fetch(ctx, source.Request{Source: from, All: true, Progress: o.Progress})
	if err != nil {
		return fmt.Errorf("plugin %s: %w", c.Name, err)
	}
	defer q.Close()
	if len(fetched.Trees) != 1 {
		return fmt.Errorf("plugin %s: %w", c.Name, &source.RefusedError{Reason: "its source has several folders", Remedy: "ask the marketplace's author for one"})
	}
	t := treeFinder{tree: fetched.Trees[0], dir: filepath.Join(q.Path(), filepath.FromSlash(fetched.Trees[0].Path))}
	t.descend()
	c.tree, c.treeDir, c.dir, c.leftOut = t.tree, t.dir, ".", leftOut(q.LeftOut()).below(q.Path(), t.dir)
	state.Origin = &lock.Origin{Source: c.market.Source, Revision: cmp.Or(t.tree.Revision, fetched.Revision)}
	state.Checked = slices.Concat(state.Checked, fetched.Checked)
	return b.stage(o, c, state)
}

// stage copies a candidate, and adds its item.
func (b *planner) stage(o order, c candidate, state *lock.State) error {
	entry, known := o.entries[key(c.Kind, c.Path, c.Name)]
	folder := path.Base(entry)
	if !known {
		var err error
		if folder, err = folderName(c.Name, path.Base(c.Path)); err != nil {
			return err
		}
		l, err := b.installer.target.layout()
		if err != nil {
			return err
		}
		entry = l.entry(c.Kind, folder)
	}
	if i := slices.IndexFunc(b.Items, func(other *Item) bool { return strings.EqualFold(other.Path, entry) }); i >= 0 {
		return &ConflictError{Path: entry, Reason: fmt.Sprintf("is also the folder of %s in this source", cmp.Or(b.Items[i].State.Path, b.Items[i].State.Name)), Remedy: "install them one by one"}
	}
	dir := path.Join(fmt.Sprint(len(b.Items)), folder)
	b.stager.kind = o.Source.Kind
	if err := b.stager.stage(c, dir); err != nil {
		return err
	}
	b.Items, b.dirs = append(b.Items, &Item{Path: entry, State: state}), append(b.dirs, dir)
	return nil
}

// key identifies a candidate in its source.
func key(kind, path, name string) string {
	if path == "" || path == "." {
		return kind + " " + name
	}
	return kind + " " + path
}

// describe describes the staged items, and compares them with the target.
func (b *planner) describe(ctx context.Context) error {
	if err := cmp.Or(b.stager.folder.Seal(), leftOut(b.stager.folder.LeftOut()).in(".")); err != nil {
		return err
	}
	file, err := b.installer.Installed()
	if err != nil {
		return err
	}
	target := b.installer.target
	for n, item := range b.Items {
		dir := filepath.Join(b.stager.folder.Path(), filepath.FromSlash(b.dirs[n]))
		item.staged = b.work.below(dir)
		if err := item.describe(ctx, dir); err != nil {
			return err
		}
		if e := file.Entries[item.Path]; e != nil && e.Exists() {
			was := e.State
			item.Replaces = &was
		}
		if err := occupied(b.work.root, file, item); err != nil {
			return err
		}
		if err := item.compare(ctx, target, dir); err != nil {
			return err
		}
	}
	slices.SortFunc(b.Items, func(x, y *Item) int { return cmp.Compare(x.Path, y.Path) })
	return nil
}
