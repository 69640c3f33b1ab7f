package skillfs

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

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
