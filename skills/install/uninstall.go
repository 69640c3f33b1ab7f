package install

import (
	"context"
)

// A Removed is the result of [Installer.Uninstall].
type Removed struct {
	Entries []string // paths in the lock
	// Kept are the absolute host paths of the folders below Target.State with the files
	// that somebody else has added or changed. They are never removed.
	Kept []string
	// Shared says why a project's skills-lock.json was not changed; nil if it was.
	Shared error
}

// Uninstall removes entries, all or none. A name is that of the
// skill or plugin, its folder's, or its path in the lock. Files that were added or changed
// since the installation are moved aside: see [Removed].
func (i *Installer) Uninstall(ctx context.Context, names ...string) (*Removed, error) {
	if len(names) == 0 {
		return &Removed{}, nil
	}
	c, err := i.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	chosen, err := choose(c.File, names)
	if err != nil {
		return nil, err
	}
	before := c.states()
	for _, p := range chosen {
		c.File.Entries[p].Removal = true
	}
	if err := c.make(ctx); err != nil {
		return nil, explain(err, i.target)
	}
	return &Removed{chosen, c.kept, c.shareLock(context.WithoutCancel(ctx), before)}, nil
}
