package install

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// shareLock writes a project's skills into skills-lock.json, and takes out those that were
// removed. Earlier are the states from before the change.
func (c *change) shareLock(ctx context.Context, earlier map[string]lock.State) error {
	if !c.target.Project {
		return nil
	}
	set, gone := map[string]lock.NPMEntry{}, map[string]lock.NPMEntry{}
	for p, was := range earlier {
		if e, ok := was.NPM(); ok && c.File.Entries[p] == nil {
			gone[path.Base(p)] = e
		}
	}
	for p, now := range c.File.Entries {
		was, known := earlier[p]
		e, ok := now.NPM()
		if !ok || known && was.Digest == now.Digest && was.Source == now.Source {
			continue
		}
		hash, err := lock.NPMHash(ctx, skillfs.Sub(skillfs.DirFS(c.target.Dir), p))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		e.ComputedHash = hash
		set[path.Base(p)] = e
	}
	return c.WriteNPM(set, gone)
}

// states returns the states of all entries.
func (c *change) states() map[string]lock.State {
	all := map[string]lock.State{}
	for p, e := range c.File.Entries {
		if e.Exists() {
			all[p] = e.State
		}
	}
	return all
}
