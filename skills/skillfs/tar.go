package skillfs

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// headroom bounds the bytes of a tar.gz file's headers and padding.
const headroom = maxEntries * 2048

// ErrStream ends the reading of a stream that unpacks to more than its limit.
var ErrStream = errors.New("the stream is too long")

// Gunzip returns the content of a gzip file, of which limit bytes can be read. More of
// them are [ErrStream].
func Gunzip(packed io.Reader, limit int64) (io.Reader, error) {
	unpacked, err := gzip.NewReader(bufio.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return &boundedReader{unpacked, limit}, nil
}

// A spool is a temporary file.
type spool struct {
	*os.File
	named bool // it has to be removed
	size  int64
}

// A spoolError is an error of the machine, not of the package.
type spoolError struct{ cause error }

func (e *spoolError) Error() string { return fmt.Sprintf("unpack to a temporary file: %v", e.cause) }
func (e *spoolError) Unwrap() error { return e.cause }

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "skills-mcp-package-*")
	if err != nil {
		return nil, &spoolError{err}
	}
	// A file without a name does not outlive the process. Where the system refuses,
	// close removes it.
	return &spool{File: file, named: os.Remove(file.Name()) != nil}, nil
}

// Write appends to the file. Its error is a [*spoolError].
func (s *spool) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	s.size += int64(n)
	if err != nil {
		err = &spoolError{err}
	}
	return n, err
}

func (s *spool) close() error {
	err := s.File.Close()
	if s.named {
		os.Remove(s.Name())
	}
	return err
}

// unpackTAR rewrites a tar.gz file as a ZIP file in a spool, which release closes.
func (c *contents) unpackTAR(packed io.Reader) (files *zip.Reader, release func() error, err error) {
	spool, err := newSpool()
	if err != nil {
		return nil, nil, err
	}
	if err = c.copyTAR(packed, spool); err == nil {
		files, err = zip.NewReader(spool, spool.size)
	}
	switch {
	case err == nil:
		return files, spool.close, nil
	case errors.Is(err, ErrStream):
		err = &ArchiveError{"", fmt.Sprintf("it unpacks to more than %d MB", c.limits.unpacked>>20), "leave out what the skill does not need"}
	case broken(err):
		err = &ArchiveError{"", "it is no whole tar.gz file: " + err.Error(), "pack the skill anew"}
	}
	spool.close()
	return nil, nil, err
}

// broken reports whether an error is of the stream, not of the machine or of an
// entry.
func broken(err error) bool {
	var entry *ArchiveError
	var machine *spoolError
	return !errors.As(err, &entry) && !errors.As(err, &machine)
}

func (c *contents) copyTAR(packed io.Reader, spool *spool) error {
	stream, err := Gunzip(packed, c.limits.unpacked+headroom)
	if err != nil {
		return err
	}
	list, out := tar.NewReader(stream), zip.NewWriter(spool)
	for entries := 0; ; entries++ {
		header, err := list.Next()
		switch {
		case errors.Is(err, io.EOF):
			// Only at its end does gzip's checksum show whether all was right.
			if _, err := io.Copy(io.Discard, stream); err != nil {
				return err
			}
			return out.Close()
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are checked below
			return err
		case entries == maxEntries:
			return &ArchiveError{shorten(header.Name), fmt.Sprintf("the package has more than %d entries", maxEntries), "leave out what the skill does not need"}
		}
		c.meant = c.meant || isManifest(header.Name)
		if err := c.addTAR(header, list, out); err != nil {
			c.meantTAR(list, entries)
			return err
		}
	}
}

// addTAR copies an entry, once it is known that it may be there.
func (c *contents) addTAR(header *tar.Header, content io.Reader, out *zip.Writer) (err error) {
	copied := &zip.FileHeader{Method: zip.Store, Modified: header.ModTime}
	switch header.Typeflag {
	case tar.TypeXGlobalHeader: // the commit, of git archive
		return nil
	case tar.TypeDir:
		copied.Name, err = c.addDir(header.Name)
	case tar.TypeReg:
		copied.Name, err = c.addFile(header.Name, header.Size)
		copied.SetMode(mode(header.FileInfo().Mode()))
	case tar.TypeSymlink, tar.TypeLink:
		return errLink(header.Name)
	default:
		return errSpecial(header.Name)
	}
	if err != nil || copied.Name == "" {
		return err
	}
	to, err := out.CreateHeader(copied)
	if err == nil && header.Typeflag == tar.TypeReg {
		_, err = io.Copy(to, io.LimitReader(content, header.Size)) // which sizes the buffer of a small file
	}
	return err
}

// boundedReader is an error where more than left is read.
type boundedReader struct {
	io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrStream
	}
	return n, err
}

// meantTAR looks for a SKILL.md behind an entry that was refused, within the
// limits that hold for all entries.
func (c *contents) meantTAR(list *tar.Reader, entries int) {
	for ; !c.meant && entries < maxEntries; entries++ {
		header, err := list.Next()
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return
		}
		c.meant = isManifest(header.Name)
	}
}
