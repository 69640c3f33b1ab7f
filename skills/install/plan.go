package install

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
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
	// Kept is set by Commit: see [Removed].
	Kept []string
}

// An Item is one skill or plugin of a plan.
type Item struct {
	Path    string // of its entry in the lock
	State   *lock.State
	Skills  []*skills.Skill // those that the person would see
	Surface []surface.Item  // of all of them
	// Replaces is the installed version, nil if there is none; Gained and Lost are the
	// capabilities that the new one has more and less, Texts the unified difference of
	// the texts that a model reads.
	Replaces *lock.State
	Gained   []surface.Change
	Lost     []surface.Change
	Texts    string
	Problems []skills.Problem
	// Edited are the files of the installed version that somebody else has added or
	// changed. They go aside with the version that is replaced.
	Edited []Difference
}

// Commit makes the change: all items or none. Once it has begun to move folders, it ends
// although ctx is done. The error is a [*ConflictError] if the target has changed since
// the plan was made.
func (p *Plan) Commit(ctx context.Context) error { return errLater }

// Close removes the quarantine.
func (p *Plan) Close() error { return nil }
