package skillfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// An Archive is an open package, and a read-only file system of all that it
// holds: [fs.ReadDirFS] and [fs.StatFS]. A package with a link is refused, so no
// path leads anywhere else. Files have the modes 0o444 and 0o555, folders 0o555.
type Archive struct {
	tree
	root  string
	notes []string
	close func() error
}

// OpenArchive opens the package at a host path, as [NewArchive] does.
func OpenArchive(path string) (*Archive, error) {
	// Who opens a named pipe waits for a writer.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open package: %w", errIrregular())
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a, err := NewArchive(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("open package: %w", err)
	}
	return a, nil
}

// A PackageFile is an open package, such as an [os.File]. ReadAt must allow concurrent
// calls.
type PackageFile interface {
	fs.File
	io.ReaderAt
}

// NewArchive reads the list of what a package holds, and no more of a ZIP file. A
// tar.gz file is unpacked, once, into one temporary file, which does not outlive
// the process where the system can do that. The file is the archive's from then
// on; where there is an error, it is still the caller's. The error is an
// [*ArchiveError] where the package is at fault, and [ErrNoSkill] as well where it has
// no SKILL.md.
func NewArchive(file PackageFile) (*Archive, error) {
	return newLimited(file, limits{MaxPackage, MaxFile, MaxUnpacked})
}

func newLimited(file PackageFile, l limits) (*Archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular()
	}
	if info.Size() > l.packed {
		return nil, &ArchiveError{"", fmt.Sprintf("it is larger than %d MB", l.packed>>20), "leave out what the skill does not need"}
	}
	a := &Archive{tree: tree{limits: l}}
	release, err := a.read(file, info.Size())
	if err != nil {
		return nil, a.unmeant(err)
	}
	if a.root, err = a.finish(); err != nil {
		release()
		return nil, a.unmeant(err)
	}
	a.notes = a.sameButCase()
	a.close = func() error { return errors.Join(file.Close(), release()) }
	return a, nil
}

func errIrregular() error {
	return &ArchiveError{"", "it is not a regular file", "name a ZIP or tar.gz file"}
}

// The first bytes of the formats. Sources: PKWARE's APPNOTE 4.3.7 and 4.3.16,
// and RFC 1952, 2.3.1.
const (
	zipMagic   = "PK\x03\x04"
	emptyMagic = "PK\x05\x06"
	gzipMagic  = "\x1f\x8b"
)

// IsPackage reports whether a file begins with the magic bytes of a package.
func IsPackage(file io.ReaderAt) bool {
	magic := make([]byte, 4)
	n, _ := file.ReadAt(magic, 0) // whatever there is
	return isZIP(magic[:n]) || isGzip(magic[:n])
}

func isZIP(magic []byte) bool {
	return bytes.HasPrefix(magic, []byte(zipMagic)) || bytes.HasPrefix(magic, []byte(emptyMagic))
}

func isGzip(magic []byte) bool { return bytes.HasPrefix(magic, []byte(gzipMagic)) }

// read fills the tree from the file. What it needed beside the file ends with
// release.
func (t *tree) read(file PackageFile, size int64) (release func() error, err error) {
	magic := make([]byte, 4)
	n, err := file.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch magic = magic[:n]; {
	case isZIP(magic):
		return func() error { return nil }, t.readZIP(file, size)
	case isGzip(magic):
		return t.unpackTAR(io.NewSectionReader(file, 0, size))
	}
	return nil, &ArchiveError{"", "it is neither a ZIP nor a tar.gz file, by its first bytes", "pack the skill's folder with zip -r, or with tar -czf"}
}

// Root is the folder that has SKILL.md: ".", or the name of one folder.
func (a *Archive) Root() string { return a.root }

// Notes says what is odd about the package, though it is taken: names that are
// one name where a file system does not tell upper from lower case.
func (a *Archive) Notes() []string { return a.notes }

// Close ends the use of the package. Nothing of it can be read afterwards.
func (a *Archive) Close() error { return a.close() }
