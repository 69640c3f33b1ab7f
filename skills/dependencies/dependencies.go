// Package dependencies reads the packages that a skill declares: in the inline
// metadata of a Python script (PEP 723), in requirements.txt, or in package.json
// with package-lock.json. It installs nothing.
//
// Start with [Find].
package dependencies

import (
	"io/fs"
	"path"
	"strings"
)

// Find returns the packages that the skill in fsys declares for its entry script:
// of the kind that the interpreter runs, or of both kinds if it runs neither, as a
// shell does. Files beside the script take precedence over those in the folders
// above it, and a Python script's own metadata over requirements.txt. Empty lists
// are omitted. The error is an [*Error].
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

func program(interpreter []string) string {
	if len(interpreter) == 0 {
		return ""
	}
	return path.Base(interpreter[0])
}
