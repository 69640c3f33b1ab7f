package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A Plan is a change that has been fetched, checked and described, and not made. Close
// removes its quarantine; it does nothing after Commit.
type Plan struct {
	// Source is the one of the request; the zero value for Locked and Rollback.
	Source source.Source
	// Fetched has the notes and proofs of all fetches; it is never nil.
	Fetched *source.Fetched
	// Items are sorted by path; none if there is nothing to do.
	Items []*Item
	// Kept and Shared are set by Commit: see [Removed].
	Kept   []string
	Shared error

	installer *Installer
	work      *work              // nil after Close
	staged    *quarantine.Folder // has the items; closed by Close
}

// An Item is one skill or plugin of a plan.
type Item struct {
	Path  string // of its entry in the lock
	State *lock.State
	// Skills are visible to the person after the change; their files are there until the plan
	// ends. Surface is of all of them.
	Skills  []*skills.Skill
	Surface []surface.Item
	// Replaces is the installed version, nil if there is none; Gained and Lost are the
	// capabilities that the new one has more and less, Diff the difference of the files as
	// [surface.Diff] has it.
	Replaces *lock.State
	Gained   []surface.Change
	Lost     []surface.Change
	Diff     string
	// Problems have paths that begin with the item's folder.
	Problems []skills.Problem
	// Edited are the files of the installed version that somebody else has added or
	// changed. They are set aside when it is replaced: see [Plan.Kept].
	Edited []Difference

	staged string // slash-separated in the target's folder
	parts  []part
	locked *lock.State // that the item must be; nil is any
}

var errEnded = errors.New("the plan has ended")

// Commit makes the change: all items or none. Once it has begun to move folders, it ends
// although ctx is done. The error is a [*ConflictError] if the target has changed since
// the plan was made.
func (p *Plan) Commit(ctx context.Context) error {
	switch {
	case len(p.Items) == 0:
		return p.Close()
	case p.work == nil:
		return errEnded
	}
	return errors.Join(p.commit(ctx), p.Close())
}

func (p *Plan) commit(ctx context.Context) error {
	for _, item := range p.Items {
		if err := syncTree(ctx, p.work.root, item.staged); err != nil {
			return explain(fmt.Errorf("write %s: %w", item.Path, err), p.installer.target)
		}
	}
	return p.installer.change(ctx, func(c *change) error {
		for _, item := range p.Items {
			if err := c.conflict(item); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, item := range p.Items {
			if err := propose(c, item); err != nil {
				return err
			}
		}
		err := c.make(ctx)
		p.Kept, p.Shared = c.kept, c.shared
		return err
	})
}

// propose moves an item to where its change finds it.
func propose(c *change, item *Item) error {
	if err := c.rename(item.staged, c.layout.next(item.Path)); err != nil {
		return err
	}
	if c.File.Entries[item.Path] == nil {
		c.File.Entries[item.Path] = &lock.Entry{}
	}
	c.File.Entries[item.Path].Next = item.State
	return nil
}

// Close removes the quarantine.
func (p *Plan) Close() error {
	if p.work == nil {
		return nil
	}
	w := p.work
	p.work = nil
	var err error
	if p.staged != nil {
		err = p.staged.Close()
	}
	return errors.Join(err, w.close())
}

// conflict returns an error if the target has changed since the plan was made.
func (c *change) conflict(item *Item) error {
	e := c.File.Entries[item.Path]
	was := ""
	if item.Replaces != nil {
		was = item.Replaces.Digest
	}
	if e != nil && e.Digest != was || e == nil && was != "" {
		return &ConflictError{Path: item.Path, Reason: "has been changed by another process since", Remedy: "try again"}
	}
	return occupied(c.Root(), c.File, item)
}

// occupied returns a [*ConflictError] for an item whose path somebody else has: nothing that
// is not ours is overwritten.
func occupied(root *os.Root, file *lock.File, item *Item) error {
	if e := file.Entries[item.Path]; e != nil && e.Exists() {
		from, to := e.Source, item.State.Source
		if from.Kind != to.Kind || from.Location != to.Location || from.Name != to.Name {
			return &ConflictError{Path: item.Path, Owner: &from, Reason: "is installed from " + from.String(), Remedy: "uninstall it first"}
		}
		return nil
	}
	entries, err := fs.ReadDir(root.FS(), path.Dir(item.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), path.Base(item.Path)) {
			return &ConflictError{Path: item.Path, Reason: "is there already, and was not installed by this program", Remedy: "rename or remove it"}
		}
	}
	return nil
}
