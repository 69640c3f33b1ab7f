package skillfs

import (
	"cmp"
	"io/fs"
	"slices"
)

// A View shows another file system, reports each look at it, and may add a file.
type View struct {
	fs.FS
	// Looked is called before each operation with its name, "open", "stat",
	// "lstat", "readlink", "readdir" or "sub", and its path; nil is not called.
	Looked func(op, name string)
	// Added is a file at the top that lies elsewhere; nil adds none.
	Added *Added
}

// An Added file is shown under a name of its own.
type Added struct {
	Name string // in the view
	From fs.FS
	Path string // in From, without links
}

var (
	_ fs.ReadDirFS  = (*View)(nil)
	_ fs.StatFS     = (*View)(nil)
	_ fs.ReadLinkFS = (*View)(nil)
	_ fs.SubFS      = (*View)(nil)
)

// look reports an operation, and whether it is on the added file.
func (v *View) look(op, name string) (added bool) {
	if v.Looked != nil {
		v.Looked(op, name)
	}
	return v.Added != nil && name == v.Added.Name
}

// Open implements [fs.FS].
func (v *View) Open(name string) (fs.File, error) {
	if v.look("open", name) {
		return v.Added.From.Open(v.Added.Path)
	}
	return v.FS.Open(name)
}

// Stat implements [fs.StatFS].
func (v *View) Stat(name string) (fs.FileInfo, error) {
	if v.look("stat", name) {
		return v.Added.stat()
	}
	return fs.Stat(v.FS, name)
}

// Lstat implements [fs.ReadLinkFS].
func (v *View) Lstat(name string) (fs.FileInfo, error) {
	if v.look("lstat", name) {
		return v.Added.stat()
	}
	return fs.Lstat(v.FS, name)
}

// ReadLink implements [fs.ReadLinkFS].
func (v *View) ReadLink(name string) (string, error) {
	v.look("readlink", name)
	return fs.ReadLink(v.FS, name)
}

// ReadDir implements [fs.ReadDirFS].
func (v *View) ReadDir(name string) ([]fs.DirEntry, error) {
	v.look("readdir", name)
	entries, err := fs.ReadDir(v.FS, name)
	if err != nil || name != "." || v.Added == nil {
		return entries, err
	}
	if info, err := v.Added.stat(); err == nil {
		at, _ := slices.BinarySearchFunc(entries, v.Added.Name, func(e fs.DirEntry, name string) int { return cmp.Compare(e.Name(), name) })
		entries = slices.Insert(slices.Clone(entries), at, fs.FileInfoToDirEntry(info))
	}
	return entries, nil
}

// Sub implements [fs.SubFS]. The folder is shown without the view.
func (v *View) Sub(dir string) (fs.FS, error) {
	v.look("sub", dir)
	return fs.Sub(v.FS, dir)
}

func (a *Added) stat() (fs.FileInfo, error) {
	info, err := fs.Stat(a.From, a.Path)
	return namedInfo{info, a.Name}, err
}

// namedInfo is a file under another name.
type namedInfo struct {
	fs.FileInfo
	name string
}

func (i namedInfo) Name() string { return i.name }
