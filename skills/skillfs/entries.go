package skillfs

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"time"
)

const repack = "pack the folder anew, with zip -r or tar -czf"

// A PackedEntry is a file, folder or link of an archive. Nothing of it was checked but
// that it can be read.
type PackedEntry struct {
	Name string // as the archive has it
	// Mode has the type and the permissions. A hard link is [fs.ModeIrregular].
	Mode     fs.FileMode
	Size     int64  // bytes; a file has no more
	Target   string // of a link; that of a ZIP file ends after some KiB
	Modified time.Time

	content io.Reader // of a tar file
	zipped  *zip.File // of a ZIP file
}

// Open returns the content of a regular file, which visit reads before it returns. Its
// errors are [*ArchiveError]s.
func (e *PackedEntry) Open() (io.ReadCloser, error) {
	content := io.NopCloser(e.content)
	if e.zipped != nil {
		var err error
		if content, err = e.zipped.Open(); err != nil {
			return nil, notWhole(e.Name, err)
		}
	}
	return &entryReader{content, e.Name}, nil
}

// An entryReader blames the archive for errors of reading.
type entryReader struct {
	io.ReadCloser
	name string
}

// Read implements [io.Reader].
func (r *entryReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = notWhole(r.name, err)
	}
	return n, err
}

// notWhole returns the error for an archive, or an entry of it, that cannot be read.
func notWhole(entry string, err error) error {
	var fault *ArchiveError
	if errors.As(err, &fault) {
		return &ArchiveError{entry, fault.Message, fault.Remedy}
	}
	return &ArchiveError{shorten(entry), "the archive is not whole: " + err.Error(), repack}
}

// mode returns the mode of a file in an archive.
func mode(packed fs.FileMode) fs.FileMode { return 0o444 | packed&0o111 }
