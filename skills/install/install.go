// Package install puts skills from elsewhere onto this machine, and proves later that
// they are the ones that were accepted. Everything goes one way: fetch to a quarantine,
// check, compute the capability surface, show, accept, move in at once, write the lock.
//
// Start with [New] and [Installer.Prepare]; nothing changes until [Plan.Commit].
package install

import (
	"context"
	"errors"
	"net/netip"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A Fetcher gets the files of one kind of source. Its methods must return when ctx is
// done, and may be called by several goroutines.
type Fetcher interface {
	// Fetch writes files into a quarantine and does not seal it. The error is a
	// [*source.ChoiceError], a [*source.RefusedError] or a [*quarantine.Error] where the
	// source is at fault; any other is one of reaching it.
	Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error)
	// Revision returns the revision that Fetch would get now, at a smaller price.
	Revision(ctx context.Context, s source.Source) (string, error)
}

// A Target is the place that skills are installed to: the person's data folder, or a
// project. All folders are absolute host paths on one file system.
type Target struct {
	Dir     string // has the lock file; the other folders are below it
	Skills  string // scanned for skills
	Plugins string // scanned for plugins
	// State has quarantines and earlier versions. No scan reads it.
	State string
}

// Options configure an [Installer]. The zero value has no fetchers.
type Options struct {
	Fetchers map[source.Kind]Fetcher
	// Public reports whether an address is of the public internet; nil says yes.
	Public func(netip.Addr) bool
	Limits quarantine.Limits
}

// An Installer changes one target. Processes that change the same target wait for each
// other.
type Installer struct {
	target  Target
	options Options
}

// New returns an installer for a target. Nil options are the defaults. A change that an
// earlier process did not end is ended or undone by the next method that needs it.
func New(target Target, options *Options) *Installer { return nil }

// A Plan is a change that has been fetched, checked and described, and not made. Close
// removes its quarantine; it does nothing after Commit.
type Plan struct {
	Source  source.Source
	Fetched *source.Fetched
	Items   []*Item
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
}

// Prepare fetches a source and describes what an installation of it would change. The
// caller closes the plan.
func (i *Installer) Prepare(ctx context.Context, r source.Request) (*Plan, error) {
	return nil, errors.New("not written yet")
}

// Commit makes the change: all items or none.
func (p *Plan) Commit(ctx context.Context) error { return errors.New("not written yet") }

// Close removes the quarantine.
func (p *Plan) Close() error { return nil }
