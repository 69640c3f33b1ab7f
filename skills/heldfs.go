package skills

import (
	"io/fs"
	"os"
	"path/filepath"
)

// heldFS is a host folder that is kept open: what is read of it needs a few
// system calls less than by way of [DirFS], and leads out of it as little. It is
// for the time of a scan.
type heldFS struct{ root *os.Root }

var (
	_ fs.ReadDirFS  = heldFS{}
	_ fs.StatFS     = heldFS{}
	_ fs.ReadLinkFS = heldFS{}
)

// hold opens the folder that d shows. Whoever holds it closes its root.
func (d dirFS) hold() (heldFS, error) {
	root, err := os.OpenRoot(d.dir)
	if err != nil || d.sub == "." {
		return heldFS{root}, err
	}
	defer root.Close()
	sub, err := root.OpenRoot(filepath.FromSlash(d.sub))
	return heldFS{sub}, err
}

// Open opens without waiting: see [dirFS.Open].
func (h heldFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return h.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlocking, 0)
}

func (h heldFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(h.root.FS(), name)
}

func (h heldFS) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return h.root.Stat(filepath.FromSlash(name))
}

func (h heldFS) Lstat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrInvalid}
	}
	return h.root.Lstat(filepath.FromSlash(name))
}

func (h heldFS) ReadLink(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return h.root.Readlink(filepath.FromSlash(name))
}
