package skills

import (
	"errors"
	"io/fs"

	"github.com/skillsmcp/skills-mcp/skills/archive"
)

// packFS is the skill's folder in a package. It holds no descriptor, as
// [DirFS] does not: each operation opens the package. See [Hold] for many.
type packFS struct {
	fs.FS
	name string // of the package
}

var (
	_ fs.ReadDirFS = packFS{}
	_ fs.StatFS    = packFS{}
)

// heldPack is the skill's folder in an open package. Whoever opened it closes it.
type heldPack struct {
	fs.FS // the folder
	*archive.Archive
}

// Open implements [fs.FS].
func (h *heldPack) Open(name string) (fs.File, error) { return h.FS.Open(name) }

// ReadDir implements [fs.ReadDirFS].
func (h *heldPack) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(h.FS, name) }

// Stat implements [fs.StatFS]. A package has no links.
func (h *heldPack) Stat(name string) (fs.FileInfo, error) { return fs.Lstat(h.FS, name) }

var errNoReaderAt = errors.New("its file system cannot read a file from a place on")

// open opens the package. The error is as of [archive.New].
func (p packFS) open() (*heldPack, error) {
	file, err := p.FS.Open(p.name)
	if err != nil {
		return nil, err
	}
	source, ok := file.(archive.File)
	if !ok {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: p.name, Err: errNoReaderAt}
	}
	opened, err := archive.New(source)
	if err != nil {
		file.Close()
		return nil, err
	}
	dir, err := fs.Sub(opened, opened.Root())
	if err != nil {
		opened.Close()
		return nil, err
	}
	return &heldPack{dir, opened}, nil
}

// Open implements [fs.FS]. The package is open for as long as the file is.
func (p packFS) Open(name string) (fs.File, error) {
	held, err := p.open()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file, err := held.Open(name)
	if err != nil {
		held.Close()
		return nil, err
	}
	if dir, ok := file.(fs.ReadDirFile); ok { // which is in memory
		return dir, held.Close()
	}
	return &packedFile{file, held}, nil
}

// ReadDir implements [fs.ReadDirFS].
func (p packFS) ReadDir(name string) ([]fs.DirEntry, error) {
	held, err := p.open()
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	defer held.Close()
	return held.ReadDir(name)
}

// Stat implements [fs.StatFS].
func (p packFS) Stat(name string) (fs.FileInfo, error) {
	held, err := p.open()
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	defer held.Close()
	return held.Stat(name)
}

// packedFile is a file of a package that nobody else has open.
type packedFile struct {
	fs.File
	held *heldPack
}

func (f *packedFile) Close() error { return errors.Join(f.File.Close(), f.held.Close()) }

// Hold returns a skill's files for reading many of them: the files of a package,
// which else is opened for each, stay open until release is called. Others are
// returned as they are.
func Hold(files fs.FS) (held fs.FS, release func(), err error) {
	p, ok := files.(packFS)
	if !ok {
		return files, func() {}, nil
	}
	opened, err := p.open()
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: p.name, Err: err}
	}
	return opened, func() { opened.Close() }, nil
}
