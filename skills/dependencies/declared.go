package dependencies

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// The kinds of packages.
const (
	Python = "python"
	Node   = "node"
)

// maxPackages bounds the packages that one skill may declare of a kind.
const maxPackages = 500

// Declared holds the packages of one kind that a skill declares.
type Declared struct {
	Kind string `json:"kind"` // [Python] or [Node]
	// File is the declaring file, in the skill's folder.
	File string `json:"file"`
	// Packages are the requirements, such as "requests>=2" or "left-pad@^1.3.0".
	Packages []string `json:"packages" jsonschema:"nullable"`
	// Lock is the input of an installer: for Python "requirements.txt" and, if
	// the script has one, "requires-python"; for Node "package.json" and, if there
	// is one, "package-lock.json". Each is rewritten with the accepted fields only.
	Lock []File `json:"-"`
	// Digest is "sha256:" and 64 hexadecimal digits, over Kind and Lock.
	Digest string `json:"digest"`
}

// A File is one input of an installer.
type File struct {
	Name string
	Data []byte
}

// An Error says why a skill's declaration is invalid.
type Error struct {
	File    string // in the skill's folder
	Line    int    // from 1; 0 for the whole file
	Message string
	Remedy  string // an imperative
}

func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s: %s; %s", where, e.Message, e.Remedy)
}

// digest returns the digest of kind, names and contents. Each has its length before
// it, so that no two lists hash the same text.
func digest(d *Declared) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n", d.Kind)
	for _, file := range d.Lock {
		fmt.Fprintf(hash, "%d %s %d\n%s", len(file.Name), file.Name, len(file.Data), file.Data)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// Summary describes declarations in a few words, such as
// "2 Python packages (requests, rich)".
func Summary(all []Declared) string {
	var parts []string
	for _, d := range all {
		language := map[string]string{Python: "Python", Node: "Node"}[d.Kind]
		noun := "packages"
		if len(d.Packages) == 1 {
			noun = "package"
		}
		parts = append(parts, fmt.Sprintf("%d %s %s (%s)", len(d.Packages), language, noun, some(d.Packages)))
	}
	return strings.Join(parts, " and ")
}

// some returns the first few packages.
func some(packages []string) string {
	const most = 5
	if len(packages) > most {
		return strings.Join(packages[:most], ", ") + ", …"
	}
	return strings.Join(packages, ", ")
}
