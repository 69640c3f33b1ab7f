package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Rollback returns a plan that exchanges an entry for the version
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
