// Package lock reads and writes skills-mcp.lock: what was installed, from where, with
// the digest of each file. The file is also the journal of a change: an entry that is
// being changed holds its next state, so that the file is true at each moment, however
// the process ends.
//
// Start with [Open].
package lock

import (
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// Name is the name of the file.
const Name = "skills-mcp.lock"

// Version is the version of the format.
const Version = 1

// A File is the content of a lock file.
type File struct {
	Version int `json:"version"`
	// Entries are the installed skills and plugins by their slash-separated path from
	// the folder of the lock file, such as "skills/pdf".
	Entries map[string]*Entry `json:"entries"`
}

// An Entry is one installed skill or plugin.
type Entry struct {
	State
	// Next is the state that a change under way leads to, nil if there is none: then the
	// folder has either state. Removal is true if it leads to nothing.
	Next    *State `json:"next,omitempty"`
	Removal bool   `json:"removal,omitempty"`
	// Previous is the state before the last update, which rollback returns to.
	Previous *State `json:"previous,omitempty"`
}

// The kinds of entries.
const (
	Skill  = "skill"
	Plugin = "plugin"
)

// Exists reports whether there is a version now: none while the first one is installed.
func (e *Entry) Exists() bool { return e.Digest != "" }

// A State is one version of an entry: its source and its content.
type State struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // [Skill] or [Plugin]
	// Source is as the person wrote it; Revision identifies the content there; Path is
	// its folder in the source.
	Source   source.Source `json:"source"`
	Revision string        `json:"revision,omitempty"`
	Path     string        `json:"path,omitempty"`
	// Origin is the place that a marketplace at Source names for a plugin; nil if the
	// plugin is at Source.
	Origin *Origin `json:"origin,omitempty"`
	// Digest is that of the folder, as package snapshot computes it.
	Digest string `json:"digest"`
	// Files are the digests of the files by slash-separated path.
	Files map[string]FileState `json:"files"`
	// Surface is the capability surface that the person accepted.
	Surface []surface.Item `json:"surface,omitempty"`
	// Checked are the proofs of the source that were checked, Unproved the claims that
	// could not be, such as after an adoption.
	Checked   []string  `json:"checked,omitempty"`
	Unproved  []string  `json:"unproved,omitempty"`
	Installed time.Time `json:"installed"`
}

// An Origin is a place that a marketplace has named.
type Origin struct {
	Source   source.Source `json:"source"`
	Revision string        `json:"revision,omitempty"`
}

// A FileState is one file of an entry.
type FileState struct {
	Digest     string `json:"digest,omitempty"` // "sha256:…"; "" of a link
	Size       int64  `json:"size,omitempty"`   // bytes
	Executable bool   `json:"executable,omitempty"`
	Link       string `json:"link,omitempty"` // the target of a symbolic link
}
