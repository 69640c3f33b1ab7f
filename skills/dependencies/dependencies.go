// Package dependencies reads what packages a skill says it needs: the inline
// metadata of a Python script (PEP 723), requirements.txt, and package.json with
// package-lock.json. It installs nothing.
//
// Start with [Find].
package dependencies

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// The kinds of packages.
const (
	Python = "python"
	Node   = "node"
)

// What is read of a skill. Whatever is larger is an error.
const (
	maxScript       = 256 << 10 // bytes of a script in which its metadata is looked for
	maxRequirements = 64 << 10  // bytes of requirements.txt
	maxManifest     = 256 << 10 // bytes of package.json
	maxLock         = 4 << 20   // bytes of package-lock.json
	// MaxPackages is how many packages one skill may declare of a kind.
	MaxPackages = 500
)

// Declared is what a skill declares of one kind.
type Declared struct {
	Kind string `json:"kind"` // [Python] or [Node]
	// File is where it is declared.
	File string `json:"file"`
	// Packages are the requirements, such as "requests>=2" or "left-pad@^1.3.0".
	Packages []string `json:"packages"`
	// Lock is what an installer reads: for Python "requirements.txt" and, where
	// the script wants one, "requires-python"; for Node "package.json" and, where
	// there is one, "package-lock.json". It holds nothing else of these files.
	Lock []File `json:"-"`
	// Digest is "sha256:" and 64 hexadecimal digits, over Kind and Lock.
	Digest string `json:"digest"`
}

// A File is one that an installer reads.
type File struct {
	Name string
	Data []byte
}

// An Error says why what a skill declares cannot be taken.
type Error struct {
	File    string // in the skill's folder
	Line    int    // from 1; 0 where the whole file is meant
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

// Find returns what the skill in fsys declares for its entry script: of the kind
// that the interpreter runs, and of both where it runs neither, as a shell does. Files beside the script come
// before those in the folders above it.
// A Python script's own metadata stands instead of requirements.txt. Nothing is
// declared where a list is empty. The error is an [*Error].
func Find(fsys fs.FS, script string, interpreter []string) ([]Declared, error) {
	var finders []func(fs.FS, string) (*Declared, error)
	switch program := program(interpreter); {
	case strings.HasPrefix(program, "python"):
		finders = append(finders, findPython)
	case program == "node":
		finders = append(finders, nearest(findNode))
	default:
		finders = append(finders, nearest(findRequirements), nearest(findNode))
	}
	var all []Declared
	for _, find := range finders {
		declared, err := find(fsys, script)
		if err != nil {
			return nil, err
		}
		if declared != nil && len(declared.Packages) > 0 {
			declared.Digest = digest(declared)
			all = append(all, *declared)
		}
	}
	return all, nil
}

// nearest returns a finder that reads files beside the script, and where there
// are none, or none that name a package, in the folders above it.
func nearest(find func(fs.FS) (*Declared, error)) func(fs.FS, string) (*Declared, error) {
	return func(fsys fs.FS, script string) (*Declared, error) {
		if !fs.ValidPath(script) {
			return find(fsys)
		}
		for dir := path.Dir(script); ; dir = path.Dir(dir) {
			beside, err := fs.Sub(fsys, dir)
			if err != nil {
				return nil, err
			}
			declared, err := find(beside)
			if wrong, ok := errors.AsType[*Error](err); ok {
				wrong.File = path.Join(dir, wrong.File)
				return nil, wrong
			}
			if declared != nil {
				declared.File = path.Join(dir, declared.File)
			}
			if err != nil || dir == "." || declared != nil && len(declared.Packages) > 0 {
				return declared, err
			}
		}
	}
}

func program(interpreter []string) string {
	if len(interpreter) == 0 {
		return ""
	}
	return path.Base(interpreter[0])
}

// digest is over the names and contents, each with its length: no two lists have
// one text.
func digest(d *Declared) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n", d.Kind)
	for _, file := range d.Lock {
		fmt.Fprintf(hash, "%d %s %d\n%s", len(file.Name), file.Name, len(file.Data), file.Data)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// read returns the content of a file, and nil where there is none.
func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	data, err := skillfs.ReadRegular(fsys, name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, skillfs.ErrTooLarge):
		return nil, &Error{name, 0, fmt.Sprintf("it is larger than %d KiB", limit>>10), "shorten it"}
	case err != nil:
		return nil, &Error{name, 0, "it cannot be read: " + err.Error(), "make it a readable file"}
	}
	return data, nil
}

// Summary says in a few words what is declared, such as
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

// some is the first few of packages.
func some(packages []string) string {
	const most = 5
	if len(packages) > most {
		return strings.Join(packages[:most], ", ") + ", …"
	}
	return strings.Join(packages, ", ")
}
