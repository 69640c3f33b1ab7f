// Package install puts skills from elsewhere onto this machine, and proves later that
// they are the ones that were accepted. Everything goes one way: fetch to a quarantine,
// check, compute the capability surface, show, accept, move in at once, write the lock.
//
// Start with [New] and [Installer.Prepare]; nothing changes until [Plan.Commit].
package install

import (
	"context"
	"time"

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
	Limits   quarantine.Limits
	// Now is the clock of installation times; nil is [time.Now].
	Now func() time.Time
}

// An Installer changes one target. Processes that change the same target wait for each
// other. Its methods may be called by several goroutines.
type Installer struct {
	target  Target
	options Options
	fail    func(step string) error // nil but in tests
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
