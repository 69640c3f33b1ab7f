package skillfs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// A Package is the folder of a skill in a package, as a read-only file system.
// One of [PackageFS] holds no descriptor: each operation opens the
// package. One of [Package.Hold] keeps the package open until Close.
type Package struct {
	source fs.FS
	name   string   // of the package in source
	held   *archive // open; nil opens it for each operation
}

var (
	_ fs.ReadDirFS = Package{}
	_ fs.StatFS    = Package{}
)

// PackageFS returns the file system of the package that is the file name of
// source.
func PackageFS(source fs.FS, name string) Package { return Package{source: source, name: name} }

var errNoReaderAt = errors.New("its file system cannot read a file from a place on")

// Hold opens the package. The caller closes it. The error is an [*ArchiveError] where
// the package is at fault, and [ErrNoSkill] as well where it has no SKILL.md.
func (p Package) Hold() (*Package, error) {
	file, err := p.source.Open(p.name)
	if err != nil {
		return nil, err
	}
	readable, ok := file.(packageFile)
	if !ok {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: p.name, Err: errNoReaderAt}
	}
	if p.held, err = newArchive(readable, limits{maxPackage, maxFile, maxUnpacked, maxRepacked}); err != nil {
		file.Close()
		return nil, err
	}
	return &p, nil
}

// Path returns the host path of the package, or "" if it lies in no [Dir].
func (p Package) Path() string {
	if dir, ok := p.source.(Dir); ok {
		return filepath.Join(dir.Path(), filepath.FromSlash(p.name))
	}
	return ""
}

// Root returns the folder of the package that holds the skill: ".", or the name of one
// at its top. The package must be held.
func (p Package) Root() string { return p.held.root }

// Close closes the package of [Package.Hold].
func (p Package) Close() error { return p.held.close() }

// Open implements [fs.FS]. The package is open for as long as the file is.
func (p Package) Open(name string) (fs.File, error) {
	if p.held != nil {
		return Sub(p.held, p.held.root).Open(name)
	}
	held, err := p.Hold()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file, err := held.Open(name)
	if err != nil {
		held.Close()
		return nil, err
	}
	if dir, ok := file.(fs.ReadDirFile); ok { // it is in memory
		return dir, held.Close()
	}
	return &packedFile{file, held}, nil
}

// ReadDir implements [fs.ReadDirFS].
func (p Package) ReadDir(name string) ([]fs.DirEntry, error) {
	return inPackage(p, "readdir", name, fs.ReadDir)
}

// Stat implements [fs.StatFS]. A package has no links.
func (p Package) Stat(name string) (fs.FileInfo, error) {
	return inPackage(p, "stat", name, fs.Lstat)
}

// inPackage calls do for one operation in the skill's folder.
func inPackage[T any](p Package, op, name string, do func(fs.FS, string) (T, error)) (T, error) {
	if p.held == nil {
		held, err := p.Hold()
		if err != nil {
			var zero T
			return zero, &fs.PathError{Op: op, Path: name, Err: err}
		}
		defer held.Close()
		p = *held
	}
	return do(Sub(p.held, p.held.root), name)
}

// packedFile is an open file that owns its package.
type packedFile struct {
	fs.File
	held *Package
}

func (f *packedFile) Close() error { return errors.Join(f.File.Close(), f.held.Close()) }

// Hold returns files for reading many of them: a package, which else is opened
// for each, stays open until release is called. Other file systems are returned
// as they are.
func Hold(files fs.FS) (held fs.FS, release func(), err error) {
	p, ok := files.(Package)
	if !ok {
		return files, func() {}, nil
	}
	opened, err := p.Hold()
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: p.name, Err: err}
	}
	return opened, func() { opened.Close() }, nil
}
