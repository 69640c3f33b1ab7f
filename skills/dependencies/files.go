package dependencies

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Limits of the files of a skill, in bytes. A larger file is an error.
const (
	maxScript       = 256 << 10 // of a Python script with metadata
	maxRequirements = 64 << 10  // of requirements.txt
	maxManifest     = 256 << 10 // of package.json
	maxLock         = 4 << 20   // of package-lock.json
)

// read returns the content of a file, nil if there is none.
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

// nearest returns a finder that reads the files beside the script and then, until
// some name a package, those in the folders above it.
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
