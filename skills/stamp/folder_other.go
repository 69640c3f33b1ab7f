//go:build !linux

package stamp

import (
	"os"
	"path/filepath"
)

// A Folder looks at what lies in one host folder.
type Folder struct{ path string }

// OpenFolder returns the folder at an absolute path. The caller closes it.
func OpenFolder(path string) (*Folder, error) { return &Folder{path}, nil }

// Close releases the folder.
func (f *Folder) Close() error { return nil }

// Look returns the stamp of the slash-separated path name, of the link itself if it is
// one; "." is the folder.
func (f *Folder) Look(name string) (Stamp, error) {
	return Look(filepath.Join(f.path, filepath.FromSlash(name)))
}

// Look returns the stamp of the file at a path, of the link itself if it is one.
func Look(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	return Of(info), nil
}
