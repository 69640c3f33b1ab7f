package skills

import (
	"io/fs"
	"slices"
)

// overlayFS adds one file at the top of a folder: the skill's program, which lies
// elsewhere below its root.
type overlayFS struct {
	fs.FS
	name string // of the file, here
	root fs.FS
	at   string // its path there
}

var (
	_ fs.ReadDirFS  = overlayFS{}
	_ fs.StatFS     = overlayFS{}
	_ fs.ReadLinkFS = overlayFS{}
)

// Open implements [fs.FS].
func (o overlayFS) Open(name string) (fs.File, error) {
	if name == o.name {
		return o.root.Open(o.at)
	}
	return o.FS.Open(name)
}

// ReadDir implements [fs.ReadDirFS].
func (o overlayFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	if err != nil || name != "." {
		return entries, err
	}
	if info, err := o.Stat(o.name); err == nil {
		at, _ := slices.BinarySearchFunc(entries, o.name, compareName)
		entries = slices.Insert(slices.Clone(entries), at, fs.FileInfoToDirEntry(info))
	}
	return entries, nil
}

// Stat implements [fs.StatFS].
func (o overlayFS) Stat(name string) (fs.FileInfo, error) {
	if name != o.name {
		return fs.Stat(o.FS, name)
	}
	info, err := fs.Stat(o.root, o.at)
	return namedInfo{info, o.name}, err
}

// Lstat implements [fs.ReadLinkFS]. The path in the root has no links.
func (o overlayFS) Lstat(name string) (fs.FileInfo, error) {
	if name == o.name {
		return o.Stat(name)
	}
	return fs.Lstat(o.FS, name)
}

// ReadLink implements [fs.ReadLinkFS].
func (o overlayFS) ReadLink(name string) (string, error) { return fs.ReadLink(o.FS, name) }

// namedInfo is a file under another name.
type namedInfo struct {
	fs.FileInfo
	name string
}

func (i namedInfo) Name() string { return i.name }
