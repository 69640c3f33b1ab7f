// Package source has the model of installation: the places that skills are fetched
// from, and the result of a fetch.
//
// Start with [Parse].
package source

// A Kind is a kind of source. Each has one fetcher.
type Kind string

// The kinds of sources.
const (
	Folder  Kind = "folder"  // a folder of this machine
	Archive Kind = "archive" // a .zip, .skill or .tar.gz file of this machine
	URL     Kind = "url"     // an archive, a SKILL.md or a marketplace.json on the web
	Git     Kind = "git"     // a Git repository
	ClawHub Kind = "clawhub" // a skill of a ClawHub registry
	Index   Kind = "index"   // a discovery index of the Agent Skills standard
	OCI     Kind = "oci"     // an artifact in an OCI registry
)

// A Source is a place that skills are fetched from, as a person names it. It holds no
// credentials.
type Source struct {
	Kind Kind `json:"kind"`
	// Location is the absolute host path of a folder or archive, the URL of anything on
	// the web (for Git the one to clone, for ClawHub the registry's, "" is the
	// default one), or "host[:port]/repository" of an OCI artifact.
	Location string `json:"location,omitempty"`
	// Name is the "slug" or "owner/slug" of ClawHub, and the skill
	// that "owner/repo@skill" names in Git (see [Request.Wanted]); "" is none. Of Index it
	// is only set to ask for the revision of one skill.
	Name string `json:"name,omitempty"`
	// Ref is the branch, tag or commit of Git, the version of ClawHub, and the
	// tag or "sha256:…" of OCI; "" is the default.
	Ref string `json:"ref,omitempty"`
	// Path is the slash-separated folder of a repository of Git that is meant; "" is all.
	Path string `json:"path,omitempty"`
	// Pin identifies the content for the author of the source: a commit of Git, or
	// "sha256:…" of an archive's bytes. "" is not checked.
	Pin string `json:"pin,omitempty"`
}

// A Request asks a fetcher for files.
type Request struct {
	Source Source
	// Named reports that the person wrote the location. One that a stranger's file
	// names may not be a path of this machine or a private address.
	Named bool
	// Names are the skills or plugins wanted, where the source has several; none is the
	// only one, or all if All.
	Names []string
	All   bool
	// Progress is told how many bytes or objects have come, of how many (0 is
	// unknown); nil is told nothing. It must return at once.
	Progress func(done, total int64)
}

// Wanted returns the names that are wanted: Names, or the one in a source of kind Git.
func (r Request) Wanted() []string {
	if len(r.Names) == 0 && !r.All && r.Source.Kind == Git && r.Source.Name != "" {
		return []string{r.Source.Name}
	}
	return r.Names
}

// A Fetched is the result of a fetch into a quarantine.
type Fetched struct {
	// Revision identifies the content at its source: a commit, a version, or the digest
	// of a manifest or archive. "" where the source has no such thing.
	Revision string
	// Trees are the folders in the quarantine that have been fetched, in the order of
	// their names.
	Trees []Tree
	// Notes are facts about the content that its source states, for the person's
	// decision.
	Notes []Note
	// Checked are the proofs that were checked on the way, such as "sha256 of the
	// archive, stated by the index"; none if the source states nothing.
	Checked []string
}

// A Tree is a fetched folder, in which skills, plugins or a marketplace are looked for.
type Tree struct {
	// Path is slash-separated in the quarantine; "." is all of it.
	Path string
	// Name is the name of the skill if the source gives it one; "" is the one in its
	// files.
	Name string
	// In is the folder of the source that the tree is a copy of; "" is all of it.
	In string
	// Revision is that of this tree, where each has its own; "" is that of the fetch.
	Revision string
}

// A Note is a fact about the content that its source states, such as the verdict of a
// registry's scan.
type Note struct {
	// Suspicious makes the question name the note first, and an unattended installation
	// impossible.
	Suspicious bool
	Text       string
}

// A Choice is one of several skills or plugins of a source.
type Choice struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"` // "skill" or "plugin"
	Description string `json:"description,omitempty"`
	Path        string `json:"path,omitempty"` // in the source
}

// A ChoiceError says that a source has several skills, and that none was chosen or a
// chosen one is not there.
type ChoiceError struct {
	Missing string // the wanted name that is not there; "" if none was wanted
	Choices []Choice
}

// A RefusedError says that a source or its content is accepted from nobody.
type RefusedError struct {
	Reason string
	Remedy string // an imperative; "" if there is none
}

// Error implements error.
func (e *RefusedError) Error() string {
	if e.Remedy == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Remedy
}
