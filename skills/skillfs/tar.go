package skillfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

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
