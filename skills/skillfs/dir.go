// Package skillfs reads the files of skills within bounds: a host folder out of
// which no link leads, and a packed skill (ZIP or tar.gz), opened in place.
//
// Start with [DirFS] and [PackageFS]; read files with [ReadRegular].
package skillfs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Dir is the file system below a host folder, like [os.DirFS], but nothing in
// it leads out of the folder, neither ".." nor a symbolic link. It implements
// [fs.ReadDirFS], [fs.StatFS], [fs.ReadLinkFS] and [fs.SubFS], and is comparable.
//
// A Dir of [DirFS] holds no descriptor: the folder may go and come back. One of
// [Dir.Hold] keeps the folder open until Close, and needs fewer system calls for
// each operation.
type Dir struct {
	dir string
	// sub is a folder in dir, slash-separated. It is opened by way of dir each
	// time: another program may replace it by a link, which must not lead
	// out.
	sub  string
	held *os.Root // sub, open; nil opens it for each operation
}

var (
	_ fs.ReadDirFS  = Dir{}
	_ fs.StatFS     = Dir{}
	_ fs.ReadLinkFS = Dir{}
	_ fs.SubFS      = Dir{}
)

// DirFS returns the file system below the host folder dir.
func DirFS(dir string) Dir { return Dir{dir: dir, sub: "."} }

// Path returns the host path of the folder.
func (d Dir) Path() string { return filepath.Join(d.dir, filepath.FromSlash(d.sub)) }

// Hold returns the same file system with its folder kept open. The caller closes
// it.
func (d Dir) Hold() (Dir, error) {
	root, err := d.open()
	return Dir{d.dir, d.sub, root}, err
}

// HoldSub returns a folder of d, kept open. The caller closes it.
func (d Dir) HoldSub(dir string) (Dir, error) {
	root, err := within(d, "sub", dir, (*os.Root).OpenRoot)
	return Dir{d.dir, path.Join(d.sub, dir), root}, err
}

// Close closes the folder of [Dir.Hold] or [Dir.HoldSub].
func (d Dir) Close() error { return d.held.Close() }

// Sub implements [fs.SubFS].
func (d Dir) Sub(dir string) (fs.FS, error) {
	if !fs.ValidPath(dir) {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: fs.ErrInvalid}
	}
	return Dir{dir: d.dir, sub: path.Join(d.sub, dir)}, nil
}

// Open implements [fs.FS]. It does not wait for the writer of a named pipe.
func (d Dir) Open(name string) (fs.File, error) {
	return within(d, "open", name, func(r *os.Root, name string) (*os.File, error) {
		return r.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	})
}

// ReadDir implements [fs.ReadDirFS].
func (d Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	return within(d, "readdir", name, func(r *os.Root, name string) ([]fs.DirEntry, error) {
		return fs.ReadDir(r.FS(), filepath.ToSlash(name))
	})
}

// List returns the state of a folder, and the entries that it has after that, sorted by
// name. It opens the folder once. The state is that of the folder where name is a link.
func (d Dir) List(name string) (info fs.FileInfo, entries []fs.DirEntry, err error) {
	file, err := d.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	entries, err = file.(fs.ReadDirFile).ReadDir(-1) // an *os.File
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return info, entries, err
}

// Stat implements [fs.StatFS].
func (d Dir) Stat(name string) (fs.FileInfo, error) { return within(d, "stat", name, (*os.Root).Stat) }

// Lstat implements [fs.ReadLinkFS].
func (d Dir) Lstat(name string) (fs.FileInfo, error) {
	return within(d, "lstat", name, (*os.Root).Lstat)
}

// ReadLink implements [fs.ReadLinkFS].
func (d Dir) ReadLink(name string) (string, error) {
	return within(d, "readlink", name, (*os.Root).Readlink)
}

// within calls do for one operation in the folder.
func within[T any](d Dir, op, name string, do func(*os.Root, string) (T, error)) (T, error) {
	var zero T
	if !fs.ValidPath(name) {
		return zero, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if d.held != nil {
		return do(d.held, filepath.FromSlash(name))
	}
	root, err := d.open()
	if err != nil {
		return zero, err
	}
	defer root.Close()
	return do(root, filepath.FromSlash(name))
}

// open opens the folder sub by way of dir.
func (d Dir) open() (*os.Root, error) {
	dir, err := os.OpenRoot(d.dir)
	if err != nil || d.sub == "." {
		return dir, err
	}
	defer dir.Close()
	return dir.OpenRoot(filepath.FromSlash(d.sub))
}
