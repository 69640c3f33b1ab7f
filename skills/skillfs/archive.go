package skillfs

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// An archive is an open package. Its file system has files of the modes 0o444 and
// 0o555 and folders of 0o555. A package with a link is refused, so no path leads out
// of it.
type archive struct {
	*zip.Reader
	root  string   // the folder with SKILL.md: ".", or one at the top
	notes []string // pairs of names that some file systems do not distinguish
	close func() error
}

// A packageFile is an open package, such as an [os.File]. ReadAt must allow concurrent
// calls.
type packageFile interface {
	fs.File
	io.ReaderAt
}

// newArchive reads the list of a package's entries, and no more of a ZIP file. A
// tar.gz file is written anew, as a ZIP file, to a temporary file, which does not
// outlive the process where the system supports that. close closes the file; after
// an error it is still the caller's. The error is an [*ArchiveError] where the package
// is at fault, and [ErrNoSkill] as well where it has no SKILL.md.
func newArchive(file packageFile, l limits) (*archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &ArchiveError{"", "it is not a regular file", "name a ZIP or tar.gz file"}
	}
	if info.Size() > l.packed {
		return nil, &ArchiveError{"", fmt.Sprintf("it is larger than %d MB", l.packed>>20), "leave out what the skill does not need"}
	}
	c := &contents{limits: l, folders: map[string]bool{}}
	files, release, err := c.read(file, info.Size())
	if err != nil {
		return nil, c.unmeant(err)
	}
	root, err := c.root()
	if err != nil {
		release()
		return nil, c.unmeant(err)
	}
	return &archive{files, root, c.sameButCase(), func() error { return errors.Join(file.Close(), release()) }}, nil
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
	n, _ := file.ReadAt(magic, 0) // a shorter file has fewer
	return isZIP(magic[:n]) || isGzip(magic[:n])
}

func isZIP(magic []byte) bool {
	return bytes.HasPrefix(magic, []byte(zipMagic)) || bytes.HasPrefix(magic, []byte(emptyMagic))
}

func isGzip(magic []byte) bool { return bytes.HasPrefix(magic, []byte(gzipMagic)) }

// read reads the entries of the file. release ends the use of everything beside the
// file.
func (c *contents) read(file packageFile, size int64) (files *zip.Reader, release func() error, err error) {
	magic := make([]byte, 4)
	n, err := file.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch magic = magic[:n]; {
	case isZIP(magic):
		files, err := c.readZIP(file, size)
		return files, func() error { return nil }, err
	case isGzip(magic):
		return c.unpackTAR(io.NewSectionReader(file, 0, size))
	}
	return nil, nil, &ArchiveError{"", "it is neither a ZIP nor a tar.gz file, by its first bytes", "pack the skill's folder with zip -r, or with tar -czf"}
}
