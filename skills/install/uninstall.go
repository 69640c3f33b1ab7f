package install

import (
	"context"
)

// A Removed is the result of [Installer.Uninstall].
type Removed struct {
	Entries []string // paths in the lock
	// Kept are the absolute host paths of the folders below Target.State with the versions
	// to which somebody else has added files, or changed some. They are never removed.
	Kept []string
	// Shared says why a project's skills-lock.json was not changed; nil if it was.
	Shared error
}

// Uninstall removes entries, all or none. A name is that of the
// skill or plugin, its folder's, or its path in the lock. A folder with files that were
// added or changed since the installation is moved aside: see [Removed].
func (i *Installer) Uninstall(ctx context.Context, names ...string) (*Removed, error) {
	if len(names) == 0 {
		return &Removed{}, nil
	}
	removed := &Removed{}
	err := i.change(ctx, func(c *change) (err error) {
		if removed.Entries, err = choose(c.File, names); err != nil {
			return err
		}
		for _, p := range removed.Entries {
			c.File.Entries[p].Removal = true
		}
		err = c.make(ctx)
		removed.Kept, removed.Shared = c.kept, c.shared
		return err
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}
