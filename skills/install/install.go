// Package install puts skills from elsewhere onto this machine, and proves later that
// they are the ones that were accepted. Everything goes one way: fetch to a quarantine,
// check, compute the capability surface, show, accept, move in at once, write the lock.
//
// Start with [New] and [Installer.Prepare]; nothing changes until [Plan.Commit].
package install

import (
	"context"
	"errors"
	"iter"
	"net/netip"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
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
// project. All folders are absolute host paths on one file system. No link in Dir is
// followed out of it.
type Target struct {
	Dir     string // has the lock file; the other folders are below it
	Skills  string // scanned for skills
	Plugins string // scanned for plugins
	// State has quarantines and earlier versions. No scan reads it.
	State string
	// Project reports that Dir is a workspace: an entry of skills-lock.json is written
	// for each skill, too.
	Project bool
}

// Options configure an [Installer]. The zero value has no fetchers.
type Options struct {
	Fetchers map[source.Kind]Fetcher
	// Public reports whether an address is of the public internet; nil says yes.
	Public func(netip.Addr) bool
	Limits quarantine.Limits
	// Now is the clock of installation times; nil is [time.Now].
	Now func() time.Time
}

// An Installer changes one target. Processes that change the same target wait for each
// other. Its methods may be called by several goroutines.
type Installer struct {
	target  Target
	options Options
}

// New returns an installer for a target. Nil options are the defaults. A change that an
// earlier process did not end is ended or undone by the next method that needs it.
func New(target Target, options *Options) *Installer {
	i := &Installer{target: target}
	if options != nil {
		i.options = *options
	}
	if i.options.Now == nil {
		i.options.Now = time.Now
	}
	return i
}

var errLater = errors.New("not written yet")

// Installed returns the content of the lock file, without waiting for a change under
// way: see [lock.Entry]. A target without the file has no entries.
func (i *Installer) Installed() (*lock.File, error) {
	return nil, errLater
}

// Prepare fetches a source and describes what an installation of it would change. The
// error is a [*source.ChoiceError] if the source has several skills and r chooses none, a
// [*ConflictError] for a name that is taken, and otherwise as that of [Fetcher]. The
// caller closes the plan.
func (i *Installer) Prepare(ctx context.Context, r source.Request) (*Plan, error) {
	return nil, errLater
}

// Update yields a plan for each source that has another revision than the installed one,
// and an [*EntryError] for each that cannot be fetched. Names choose entries, as
// for [Installer.Uninstall]; none is all. Entries of one source change together. The caller
// closes each plan before the next.
func (i *Installer) Update(ctx context.Context, progress func(done, total int64), names ...string) iter.Seq2[*Plan, error] {
	return func(yield func(*Plan, error) bool) { yield(nil, errLater) }
}

// Locked returns a plan that makes the target what the lock file says, with the
// same revisions and digests. Entries that are right already are not fetched and not in
// the plan, which may be empty. The error names the entry that cannot be had so.
func (i *Installer) Locked(ctx context.Context, progress func(done, total int64)) (*Plan, error) {
	return nil, errLater
}

// Rollback returns a plan that exchanges an entry, with all of its group, for the version
// before its last update. It needs no network.
func (i *Installer) Rollback(ctx context.Context, name string) (*Plan, error) {
	return nil, errLater
}

// A Status is the state of an entry at its source.
type Status struct {
	Path      string // of the entry in the lock
	Installed *lock.State
	// Revision is the one that the source has now; "" if it has no such thing.
	Revision string
	Outdated bool
	// Err says why the source could not be asked; nil if it was.
	Err error
}

// Outdated asks the sources of entries for their revisions, several at a time. Names
// choose entries; none is all.
func (i *Installer) Outdated(ctx context.Context, names ...string) ([]Status, error) {
	return nil, errLater
}

// A Removed is the result of [Installer.Uninstall].
type Removed struct {
	Entries []string // paths in the lock
	// Kept are the absolute host paths of the folders below Target.State with the files
	// that somebody else has added or changed. They are never removed.
	Kept []string
}

// Uninstall removes entries, all or none, each with its group. A name is that of the
// skill or plugin, its folder's, or its path in the lock. Files that were added or changed
// since the installation are moved aside: see [Removed].
func (i *Installer) Uninstall(ctx context.Context, names ...string) (*Removed, error) {
	return nil, errLater
}

// A DifferenceKind is a kind of [Difference].
type DifferenceKind string

// The kinds of differences.
const (
	Missing DifferenceKind = "missing"
	Changed DifferenceKind = "changed" // the content
	Added   DifferenceKind = "added"
	Mode    DifferenceKind = "mode" // may be executed, or may not
	Link    DifferenceKind = "link" // a link leads elsewhere, or is one now, or none
)

// A Difference is one way in which the disk differs from the lock.
type Difference struct {
	Path string         `json:"path"`           // of the entry in the lock
	File string         `json:"file,omitempty"` // slash-separated in the entry; "" is its folder
	Kind DifferenceKind `json:"kind"`
}

// Verify compares the files of entries with the lock. Names choose entries; none is all.
// It needs no network and changes nothing but a change that an earlier process did not end.
func (i *Installer) Verify(ctx context.Context, names ...string) ([]Difference, error) {
	return nil, errLater
}
