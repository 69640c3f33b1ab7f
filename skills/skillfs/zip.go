package skillfs

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
)

// maxDirectory bounds the list of entries of a ZIP file, in bytes. The list becomes
// several times as large in memory, so it is bounded before it is read.
const maxDirectory = 4 << 20

// errDirectory ends the reading of too long a list.
var errDirectory = errors.New("the list of entries is too long")

// readZIP reads a ZIP file's central directory. Entries that only local headers name
// do not exist.
func (c *contents) readZIP(file io.ReaderAt, size int64) (*zip.Reader, error) {
	list, err := ReadZIP(file, size)
	if err != nil {
		return nil, err
	}
	c.meant = slices.ContainsFunc(list.File, func(f *zip.File) bool { return isManifest(f.Name) })
	all := list.File
	list.File = nil
	for _, f := range all {
		if f.Name, err = c.addZIP(f); err != nil {
			return nil, err
		}
		if f.Name != "" {
			list.File = append(list.File, f)
		}
	}
	return list, nil
}

// ReadZIP reads the list of a ZIP file's entries, of at most 4 MB. It does not check
// their names. The error is an [*ArchiveError] for a list that is broken or longer.
func ReadZIP(file io.ReaderAt, size int64) (*zip.Reader, error) {
	source := &meteredReaderAt{ReaderAt: file, left: maxDirectory}
	list, err := zip.NewReader(source, size)
	switch {
	case errors.Is(err, errDirectory):
		return nil, &ArchiveError{"", fmt.Sprintf("its list of entries is longer than %d MB", maxDirectory>>20), "leave out what the skill does not need"}
	case err != nil && !errors.Is(err, zip.ErrInsecurePath):
		return nil, &ArchiveError{"", "it is no whole ZIP file: " + err.Error(), "pack the skill anew"}
	}
	source.unlimited = true
	return list, nil
}

// CheckPacking returns an [*ArchiveError] for an entry of a ZIP file that is encrypted,
// or packed with a method that is not read.
func CheckPacking(f *zip.File) error {
	switch {
	case f.Flags&encrypted != 0:
		return &ArchiveError{shorten(f.Name), "it is encrypted", "pack the skill without a password"}
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return &ArchiveError{shorten(f.Name), fmt.Sprintf("it is packed with method %d, which is not read", f.Method), "pack the skill with zip -r"}
	}
	return nil
}

// The bits of a ZIP entry's flags that say that it, or its header, is
// encrypted. Source: PKWARE's APPNOTE, 4.4.4.
const encrypted = 1<<0 | 1<<6 | 1<<13

// addZIP adds an entry, sets its mode, and returns its name in the archive; "" omits
// it.
func (c *contents) addZIP(f *zip.File) (name string, err error) {
	switch packed := f.Mode(); {
	case packed.IsDir():
		return c.addDir(f.Name)
	case packed&fs.ModeSymlink != 0:
		return "", errLink(f.Name)
	case !packed.IsRegular():
		return "", errSpecial(f.Name)
	}
	if err := CheckPacking(f); err != nil {
		return "", err
	}
	f.SetMode(mode(f.Mode()))
	// The reader ends with an error where a file is longer than it claims.
	return c.addFile(f.Name, int64(min(f.UncompressedSize64, math.MaxInt64)))
}

func errLink(entry string) error {
	return &ArchiveError{shorten(entry), "it is a link", "pack the file that it leads to in its place (zip -r and tar -h do)"}
}

func errSpecial(entry string) error {
	return &ArchiveError{shorten(entry), "it is neither a file nor a folder", "leave it out"}
}

// meteredReaderAt reads no more than so many bytes until it is unlimited.
type meteredReaderAt struct {
	io.ReaderAt
	left      int64
	unlimited bool // set before anything reads concurrently
}

func (m *meteredReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if !m.unlimited {
		if m.left -= int64(len(p)); m.left < 0 {
			return 0, errDirectory
		}
	}
	return m.ReaderAt.ReadAt(p, at)
}
