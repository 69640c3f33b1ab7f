package skillfs

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// headroom is how many bytes beyond its files a tar.gz file may become, with
// headers and padding.
const headroom = MaxEntries * 2048

// errStream ends the reading of too long a stream.
var errStream = errors.New("the stream is too long")

// unpackTAR unpacks a tar.gz file into a spool, which release ends.
func (t *tree) unpackTAR(packed io.Reader) (release func() error, err error) {
	spool, err := newSpool()
	if err != nil {
		return nil, err
	}
	err = t.readTAR(packed, spool)
	switch {
	case err == nil:
		return spool.close, nil
	case errors.Is(err, errStream):
		err = &ArchiveError{"", fmt.Sprintf("it unpacks to more than %d MB", t.limits.unpacked>>20), "leave out what the skill does not need"}
	case broken(err):
		err = &ArchiveError{"", "it is no whole tar.gz file: " + err.Error(), "pack the skill anew"}
	}
	spool.close()
	return nil, err
}

// broken reports whether an error is of the stream, not of the machine or of an
// entry.
func broken(err error) bool {
	var entry *ArchiveError
	var machine *spoolError
	return !errors.As(err, &entry) && !errors.As(err, &machine)
}

func (t *tree) readTAR(packed io.Reader, spool *spool) error {
	unzipped, err := gzip.NewReader(bufio.NewReader(packed))
	if err != nil {
		return err
	}
	stream := &boundedReader{unzipped, t.limits.unpacked + headroom}
	list := tar.NewReader(stream)
	for entries := 0; ; entries++ {
		header, err := list.Next()
		switch {
		case errors.Is(err, io.EOF):
			// Only at its end does gzip's checksum show whether all was right.
			_, err := io.Copy(io.Discard, stream)
			return err
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are checked below
			return err
		case entries == MaxEntries:
			return &ArchiveError{shorten(header.Name), fmt.Sprintf("the package has more than %d entries", MaxEntries), "leave out what the skill does not need"}
		}
		t.meant = t.meant || isManifest(header.Name)
		if err := t.addTAR(header, list, spool); err != nil {
			t.meantTAR(list, entries)
			return err
		}
	}
}

func (t *tree) addTAR(header *tar.Header, content io.Reader, spool *spool) error {
	switch header.Typeflag {
	case tar.TypeXGlobalHeader: // what git archive says of the commit
		return nil
	case tar.TypeDir:
		return t.addDir(header.Name, header.ModTime)
	case tar.TypeSymlink, tar.TypeLink:
		return errLink(header.Name)
	case tar.TypeReg:
	default:
		return errSpecial(header.Name)
	}
	// Whether it may be is known before anything of it is written.
	at := spool.size
	err := t.addFile(header.Name, header.FileInfo().Mode(), header.Size, header.ModTime, func() (io.ReadCloser, error) {
		return spool.open(at, header.Size)
	})
	if err != nil {
		return err
	}
	return spool.add(content, header.Size)
}

// boundedReader is an error where more than left is read.
type boundedReader struct {
	io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errStream
	}
	return n, err
}

// meantTAR looks for a SKILL.md behind an entry that was refused, within the
// limits that hold for all entries.
func (t *tree) meantTAR(list *tar.Reader, entries int) {
	for ; !t.meant && entries < MaxEntries; entries++ {
		header, err := list.Next()
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return
		}
		t.meant = isManifest(header.Name)
	}
}
