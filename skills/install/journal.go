package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// begin waits for the lock of the target, and ends the change of a process that did not.
// The caller closes the change.
func (i *Installer) begin(ctx context.Context) (*change, error) {
	l, err := i.target.layout()
	if err != nil {
		return nil, err
	}
	opened, err := lock.Open(ctx, i.target.Dir, l.state)
	if err != nil {
		return nil, explain(err, i.target)
	}
	c := &change{Lock: opened, target: i.target, layout: l, fail: i.fail}
	if err = c.ownState(); err == nil {
		err = l.check(c.File)
	}
	if err == nil && pending(c.File) {
		err = c.finish(context.WithoutCancel(ctx))
	}
	if err != nil {
		return nil, errors.Join(explain(err, i.target), c.Close())
	}
	c.sweep()
	return c, nil
}

// change calls edit with the lock of the target.
func (i *Installer) change(ctx context.Context, edit func(*change) error) error {
	c, err := i.begin(ctx)
	if err != nil {
		return err
	}
	return explain(errors.Join(edit(c), c.Close()), i.target)
}

// ownState returns an error if a folder of the state is a link: a stranger's workspace
// could have the change move or remove other folders of it.
func (c *change) ownState() error {
	dirs := []string{c.layout.state}
	for _, dir := range []string{workDir, nextDir, oldDir, previousDir, keptDir} {
		dirs = append(dirs, path.Join(c.layout.state, dir))
	}
	for _, dir := range dirs {
		if info, err := c.Root().Lstat(filepath.FromSlash(dir)); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder; remove it", c.target.host(dir))
		}
	}
	return nil
}

// pending reports whether an entry is being changed.
func pending(f *lock.File) bool {
	for _, e := range f.Entries {
		if e.Next != nil || e.Removal {
			return true
		}
	}
	return false
}

// make makes the change that the entries have as Next or Removal: all or nothing. Their
// next versions are in nextDir.
//
// The lock file is a redo log. First all new versions are in nextDir, on the disk. Then
// the lock file gets Next or Removal for all entries of the change: from here on the
// change is made, whatever happens. Then folders move: the live one to oldDir, the next
// one to its place. At last the lock file gets the states, and old versions go. Each step
// does nothing if it was done before, so a change is ended by doing all steps again.
func (c *change) make(ctx context.Context) error {
	if err := c.syncAll([]string{path.Join(c.layout.state, nextDir)}); err != nil {
		return err
	}
	if err := c.Write(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	before := c.states()
	if err := c.move(ctx); err != nil {
		return errors.Join(err, c.undo(ctx))
	}
	err := c.settle(ctx)
	if err == nil {
		c.shared = c.shareLock(ctx, before)
	}
	return err
}

// finish ends a change that was begun by another process.
func (c *change) finish(ctx context.Context) error {
	if err := c.move(ctx); err != nil {
		return fmt.Errorf("end the change that was interrupted: %w", err)
	}
	return c.settle(ctx)
}

// changing returns the paths of the entries that are being changed, sorted.
func (c *change) changing() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.File.Entries)), func(name string) bool {
		e := c.File.Entries[name]
		return e.Next == nil && !e.Removal
	})
}

// move moves the folders of all entries that are being changed.
func (c *change) move(ctx context.Context) error {
	for _, name := range c.changing() {
		e := c.File.Entries[name]
		var err error
		if c.fail != nil {
			err = c.fail("move " + name)
		}
		switch {
		case err != nil:
		case e.Removal && c.exists(name):
			err = c.rename(name, c.layout.old(name))
		case e.Removal:
		default:
			err = c.exchange(ctx, name, e.Next.Digest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exchange moves the next version of an entry to its place, and the live one to oldDir.
// Nobody else writes to nextDir: a folder there with another digest is the old version,
// and none has been moved already.
func (c *change) exchange(ctx context.Context, name, digest string) error {
	next, old := c.layout.next(name), c.layout.old(name)
	switch there := c.digest(ctx, next); {
	case !c.exists(next):
		return nil
	case there != digest:
		return c.rename(next, old)
	case c.digest(ctx, name) == digest:
		return c.Root().RemoveAll(next)
	case !c.exists(name):
		return c.rename(next, name)
	}
	err := exchange(c.Root(), next, name)
	if errors.Is(err, errors.ErrUnsupported) {
		if err = c.rename(name, old); err == nil {
			err = c.rename(next, name)
		}
		return err
	}
	if err == nil {
		err = c.rename(next, old)
	}
	return err
}

// undo moves back the folders that were moved, and takes the change out of the lock file.
func (c *change) undo(ctx context.Context) error {
	var errs []error
	for _, name := range c.changing() {
		e, old := c.File.Entries[name], c.layout.old(name)
		if next := c.layout.next(name); e.Next != nil && c.exists(next) && c.digest(ctx, next) != e.Next.Digest {
			errs = append(errs, c.rename(next, old)) // exchanged, and not moved on
		}
		if e.Next != nil && (c.exists(old) || !e.Exists()) && c.digest(ctx, name) == e.Next.Digest {
			errs = append(errs, c.rename(name, c.layout.next(name)))
		}
		if c.exists(old) && !c.exists(name) {
			errs = append(errs, c.rename(old, name))
		}
		e.Next, e.Removal = nil, false
		if !e.Exists() {
			delete(c.File.Entries, name)
		}
	}
	if err := errors.Join(errs...); err != nil { // the next process ends the change
		return err
	}
	return c.Write()
}

// settle writes the states of a change whose folders have moved, and sorts the versions
// in oldDir: for rollback, or away.
func (c *change) settle(ctx context.Context) error {
	dirs := []string{path.Join(c.layout.state, previousDir), path.Join(c.layout.state, keptDir)}
	for _, name := range c.changing() {
		e, old := c.File.Entries[name], c.layout.old(name)
		if dir := path.Dir(name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		if e.Removal {
			if err := c.discard(ctx, old, name, &e.State); err != nil {
				return err
			}
			delete(c.File.Entries, name)
			continue
		}
		previous, err := c.retire(ctx, name, e)
		if err != nil {
			return err
		}
		if e.Digest != e.Next.Digest {
			e.Previous = previous
		}
		e.State, e.Next = *e.Next, nil
	}
	if err := c.syncAll(dirs); err != nil {
		return err
	}
	if err := c.Write(); err != nil {
		return err
	}
	c.sweep()
	return nil
}

// retire moves the old version of an entry to where rollback finds it, and returns it. A
// version that somebody has edited is none to return to: its edited files are set aside.
func (c *change) retire(ctx context.Context, name string, e *lock.Entry) (*lock.State, error) {
	state, old := e.State, c.layout.old(name)
	if !e.Exists() || e.Digest == e.Next.Digest {
		return nil, c.discard(ctx, old, name, &state)
	}
	previous := c.layout.previous(name, e.Digest)
	if c.intact(ctx, old, &state) {
		if err := removeAll(c.Root(), previous); err != nil {
			return nil, err
		}
		if err := c.rename(old, previous); err != nil {
			return nil, err
		}
	}
	err := c.discard(ctx, old, name, &state)
	if !c.intact(ctx, previous, &state) {
		return nil, err
	}
	return &state, err
}

// intact reports whether a folder has exactly the files of a version.
func (c *change) intact(ctx context.Context, dir string, state *lock.State) bool {
	found, err := differences(ctx, c.target, dir, state)
	return err == nil && len(found) == 0
}

// sweep removes folders in the state that no entry and no living process has. What cannot
// be removed is tried again the next time.
func (c *change) sweep() {
	known := map[string]bool{}
	for name, e := range c.File.Entries {
		if e.Previous != nil {
			known[path.Base(c.layout.previous(name, e.Previous.Digest))] = true
		}
	}
	c.clear(nextDir, func(string) bool { return true })
	c.clear(oldDir, func(string) bool { return true })
	c.clear(previousDir, func(name string) bool { return !known[name] })
	c.clear(workDir, c.abandoned)
}

// clear removes some of the folders in one of those of the state.
func (c *change) clear(dir string, some func(name string) bool) {
	dir = path.Join(c.layout.state, dir)
	entries, _ := fs.ReadDir(c.Root().FS(), dir)
	for _, e := range entries {
		if some(e.Name()) {
			_ = removeAll(c.Root(), path.Join(dir, e.Name()))
		}
	}
}
