package install

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// discard removes the folder of a version, or moves it to keptDir if somebody else has
// added or changed files. A version that is not there is fine.
func (c *change) discard(ctx context.Context, dir, entry string, state *lock.State) error {
	if !c.exists(dir) {
		return nil
	}
	found, err := differences(ctx, c.target, dir, state)
	if err != nil || slices.ContainsFunc(found, func(d Difference) bool { return d.Kind != Missing }) {
		return c.keep(dir, path.Base(entry))
	}
	return removeAll(c.Root(), dir)
}

// maxKept bounds the folders of one name in keptDir.
const maxKept = 1000

// keep moves a folder to keptDir, under a name that is free.
func (c *change) keep(dir, name string) error {
	for n := range maxKept {
		to := path.Join(c.layout.state, keptDir, name)
		if n > 0 {
			to += fmt.Sprintf("-%d", n+1)
		}
		if c.exists(to) {
			continue
		}
		if err := c.rename(dir, to); err != nil {
			return err
		}
		c.kept = append(c.kept, c.target.host(to))
		return nil
	}
	return fmt.Errorf("there are %d folders like %s; remove those that you do not need", maxKept, c.target.host(path.Join(c.layout.state, keptDir, name)))
}
