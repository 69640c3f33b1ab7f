package adopt

import (
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// The tools whose installations are adopted.
const (
	Skills  = "skills"   // npx skills
	GitHub  = "gh skill" // the GitHub CLI
	ClawHub = "clawhub"
)

// Options say where other tools have installed.
type Options struct {
	// Dir is the absolute host path of a project, or of the home folder.
	Dir string
	// Home reports that Dir is the home folder: the lock of a person's skills is read.
	Home bool
	// State is the absolute host path of $XDG_STATE_HOME; "" if it is not set.
	State string
}

// A Candidate is an entry of another tool's lock file.
type Candidate struct {
	Tool string `json:"tool"` // [Skills], [GitHub] or [ClawHub]
	Lock string `json:"lock"` // the file with the entry
	Name string `json:"name"` // as the tool has it
	// Path is the entry's folder, slash-separated from Options.Dir; "" without one.
	Path string `json:"path,omitempty"`
	// Copies are other folders of this name that clients read. They stay as they are.
	Copies []string `json:"copies,omitempty"`
	// State describes the folder as it is; nil if it cannot be adopted. Then Reason
	// says why, and Remedy is an imperative or "".
	State  *lock.State `json:"-"`
	Reason string      `json:"reason,omitempty"`
	Remedy string      `json:"remedy,omitempty"`
}

// An adopter collects the candidates of one folder.
type adopter struct {
	Options
	files   skillfs.Dir // Options.Dir; closed by Find
	folders []string    // those with skills: see findFolders
	taken   map[string]bool
	found   []*Candidate
	errs    []error
}

// maxLock bounds a lock file in bytes, maxRecords its entries, maxField each text in it.
const (
	maxLock    = 8 << 20
	maxRecords = 5000
	maxField   = 4096
)
