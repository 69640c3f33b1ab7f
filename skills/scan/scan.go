// Package scan finds the skills that a person has and reads them into one catalog.
//
// Start with [Scan], which reads a list of [Root] folders into an immutable
// catalog, and with [NewScanner] to keep one fresh. A skill that cannot be read
// costs a problem, never the scan.
package scan

import (
	"cmp"
	"io/fs"
	"os"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Root is a folder that is scanned.
type Root struct {
	Source skills.Source
	// Dir is the absolute host folder; "" for a file system that is none. It may
	// also be a file that one skill is packed in.
	Dir string
	// Within is a host folder above Dir, which others may write to: no link in
	// it makes Dir a folder outside of it. "" trusts the way to Dir.
	Within string
	// FS is read; nil is the folder Dir.
	FS fs.FS
	// Only is the one folder in Dir that is read, as a part of Dir; "" reads all.
	Only string
	// Label names the root where it has no Dir.
	Label   string
	trusted bool // Within is trusted; set by the scan
	// Plugins says that the root holds plugins, not skills. Either kind may
	// also be one itself.
	Plugins bool
	// Flat says that no skill is looked for in the folder of another.
	Flat bool
	// Commands and Agents say that the root holds Markdown files of that kind, as
	// Claude Code has them outside of plugins.
	Commands, Agents bool
	// Named says that a person has named the root of plugins, so that it is a
	// fault where it has none.
	Named bool
	// Ongrid says that each skill.json in the root is meant to be a skill of
	// ongrid's: one that cannot be used is a fault.
	Ongrid bool
	// Installed says that the root holds the skills that the person has installed.
	Installed bool
}

// String names the root for people.
func (r Root) String() string { return cmp.Or(r.Dir, r.Label) }

// untrusted reports whether the root is in a workspace that is not trusted.
func (r Root) untrusted() bool { return r.Within != "" && !r.trusted }

// exists reports whether there is something at the root.
func (r Root) exists() bool {
	_, err := os.Lstat(r.Dir)
	return r.FS != nil || err == nil
}

// Options configure [Scan]. The zero value is usable.
type Options struct {
	// Strict leaves out each SKILL.md without the name and description that the Agent
	// Skills standard wants.
	Strict bool
	// Depth bounds the levels of folders below a root; 0 is [DefaultDepth].
	Depth int
	// Manifests bounds the skills, commands and plugins read below one root; 0 is
	// [DefaultManifests].
	Manifests int
	// Folders bounds the folders read below one root, not counting those inside of
	// skills; 0 is [DefaultFolders].
	Folders int
	// ImageRole reports whether an image is configured for a role; nil accepts
	// every role. It is called concurrently.
	ImageRole func(role string) bool
	// Disabled says why a skill in a host folder may not be used, by the names that
	// it has where it is configured; nil and "" allow all. It is called
	// concurrently.
	Disabled func(dir string, names ...string) (why string)
	// Host returns an error for a host of sandbox.network that cannot be used, with
	// the remedy; nil accepts all. It is called concurrently.
	Host func(host string) error
	// Trusted reports whether the person trusts a workspace: the Within of a root. It is
	// asked once in each scan, for workspaces that have a root; nil trusts none.
	Trusted func(workspace string) bool
	// Problems are added to those of each catalog.
	Problems []skills.Problem
	// Cache opens the cache for each scan of all roots; nil reads everything.
	Cache func() Cache

	// Ahead is called with each host folder, a path without links, before it is read. It
	// reports whether changes from then on are noticed: see [Scanner.RecheckUnwatched].
	// nil notices none. It is called concurrently.
	Ahead func(folder string) bool

	// readings get each file that a skill is read from; nil where nobody asks.
	readings *readings
}

// The default bounds of a root.
const (
	DefaultDepth     = 12      // folders below the root, one in the other
	DefaultManifests = 20_000  // skills, commands and plugins of one root
	DefaultFolders   = 200_000 // folders of one root, without those inside of skills
)

// A Cache stores skills and listings for the next start. It may evict anything at
// any time, and must return nothing that a file has outdated. Its methods are
// called concurrently. Callers do not change the values that it returns.
type Cache interface {
	// Skill fills in the skill that is stored under a key; its location comes from
	// the caller. It reports whether there was one.
	Skill(key string, skill *skills.Skill) bool
	// KeepSkill stores a skill for as long as its looks are unchanged, and may make it
	// refer to equal values that take less memory.
	KeepSkill(key string, skill *skills.Skill, looks []Look)
	// Folder returns the entries of a host folder, of which names and types count,
	// and whether they are known. A scanner holds them until its next scan.
	Folder(dir string) ([]fs.DirEntry, bool)
	// KeepFolder stores the entries of a folder, which were read after the look.
	KeepFolder(look Look, entries []fs.DirEntry)
	// Close is called when the scan is over.
	Close()
}

// A Look is the state of a host path, with no link followed.
type Look struct {
	Path string
	Info fs.FileInfo // nil where nothing was there
}
