package install

import (
	"context"
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// Adopt adds entries for folders that other tools have installed, as package adopt
// describes them, by their paths from Target.Dir: all or none. No folder changes. The
// error is a [*ConflictError] for a path with an entry, or whose files are others now.
func (i *Installer) Adopt(ctx context.Context, states map[string]*lock.State) error {
	return i.change(ctx, func(c *change) error {
		for _, p := range slices.Sorted(maps.Keys(states)) {
			if e := c.File.Entries[p]; e != nil {
				return &ConflictError{Path: p, Owner: &e.Source, Reason: "is installed from " + e.Source.String(), Remedy: "uninstall it first"}
			}
			found, err := differences(ctx, i.target, p, states[p])
			if err != nil {
				return err
			}
			if len(found) > 0 {
				return &ConflictError{Path: p, Reason: "has been changed by another process since", Remedy: "try again"}
			}
			if c.File.Entries == nil {
				c.File.Entries = map[string]*lock.Entry{}
			}
			c.File.Entries[p] = &lock.Entry{State: *states[p]}
		}
		if err := c.layout.check(c.File); err != nil {
			return err
		}
		return c.Write()
	})
}
