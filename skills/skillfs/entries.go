package skillfs

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
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

// ReadArchive calls visit for each entry of a ZIP, tar.gz or tar file, by its first bytes,
// and returns its error. unpacked bounds the bytes of all files of a tar.gz file. The
// central directory of a ZIP file is what counts, after all of it was found to agree with
// the headers beside the files, which other programs may read; the list is returned. The
// error is an [*ArchiveError] where the archive is at fault.
func ReadArchive(file io.ReaderAt, size, unpacked int64, visit func(*PackedEntry) error) (*zip.Reader, error) {
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	stream := bufio.NewReader(io.NewSectionReader(file, 0, size))
	switch head = head[:n]; {
	case isZIP(head):
		return readZIP(file, size, visit)
	case isGzip(head):
		unzipped, err := gzip.NewReader(stream)
		if err != nil {
			return nil, notWhole("", err)
		}
		return nil, readTAR(&boundedReader{unzipped, unpacked + headroom, unpacked}, visit)
	case isTAR(head):
		return nil, readTAR(stream, visit)
	}
	return nil, &ArchiveError{"", "it is neither a ZIP nor a tar.gz file, by its first bytes", repack}
}

// IsArchive reports whether ReadArchive reads a file that begins with head: 512 bytes, or
// all of a smaller file.
func IsArchive(head []byte) bool { return isZIP(head) || isGzip(head) || isTAR(head) }

// IsPackage reports whether a file begins with the magic bytes of a package.
func IsPackage(file io.ReaderAt) bool {
	magic := make([]byte, 4)
	n, _ := file.ReadAt(magic, 0) // a shorter file has fewer
	return isZIP(magic[:n]) || isGzip(magic[:n])
}

// The first bytes of the formats. Sources: PKWARE's APPNOTE 4.3.7 and 4.3.16,
// and RFC 1952, 2.3.1.
const (
	zipMagic   = "PK\x03\x04"
	emptyMagic = "PK\x05\x06"
	gzipMagic  = "\x1f\x8b"
)

func isZIP(magic []byte) bool {
	return bytes.HasPrefix(magic, []byte(zipMagic)) || bytes.HasPrefix(magic, []byte(emptyMagic))
}

func isGzip(magic []byte) bool { return bytes.HasPrefix(magic, []byte(gzipMagic)) }

// isTAR reports whether head has the magic of POSIX.1-1988, 10.1.1.
func isTAR(head []byte) bool { return len(head) == 512 && string(head[257:262]) == "ustar" }

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

// headroom bounds the bytes of a tar.gz file's headers and padding.
const headroom = 64 << 20

// boundedReader is an error where more than left is read.
type boundedReader struct {
	io.Reader
	left  int64
	limit int64 // for the message
}

// Read implements [io.Reader].
func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &ArchiveError{"", fmt.Sprintf("the archive unpacks to more than %d MB", b.limit>>20), "leave out what the skill does not need"}
	}
	return n, err
}

// readTAR visits the entries of a tar stream.
func readTAR(stream io.Reader, visit func(*PackedEntry) error) error {
	list := tar.NewReader(stream)
	for {
		header, err := list.Next()
		switch {
		case errors.Is(err, io.EOF):
			// Only at its end does gzip's checksum show whether all was right.
			if _, err := io.Copy(io.Discard, stream); err != nil {
				return notWhole("", err)
			}
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // visit checks names
			return notWhole("", err)
		case header.Typeflag == tar.TypeXGlobalHeader: // the commit, of git archive
			continue
		}
		e := &PackedEntry{Name: header.Name, Mode: tarMode(header), Size: header.Size, Target: header.Linkname, Modified: header.ModTime, content: list}
		if err := visit(e); err != nil {
			return err
		}
	}
}

func tarMode(header *tar.Header) fs.FileMode {
	mode := fs.FileMode(header.Mode) & fs.ModePerm
	switch header.Typeflag {
	case tar.TypeReg:
		return mode
	case tar.TypeDir:
		return mode | fs.ModeDir
	case tar.TypeSymlink:
		return mode | fs.ModeSymlink
	case tar.TypeLink:
		return mode | fs.ModeIrregular
	}
	return mode | fs.ModeDevice
}
