package skillfs

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
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

// readZIP visits the entries of a ZIP file's central directory. Those that only local
// headers name do not exist.
func readZIP(file io.ReaderAt, size int64, visit func(*PackedEntry) error) (*zip.Reader, error) {
	headers := &headerReader{ReaderAt: file, left: maxDirectory}
	list, err := zip.NewReader(headers, size)
	switch {
	case errors.Is(err, errDirectory):
		return nil, &ArchiveError{"", fmt.Sprintf("its list of entries is longer than %d MB", maxDirectory>>20), "leave out what the skill does not need"}
	case err != nil && !errors.Is(err, zip.ErrInsecurePath):
		return nil, &ArchiveError{"", "it is no whole ZIP file: " + err.Error(), repack}
	}
	headers.left = math.MaxInt64
	if err := headers.check(list.File); err != nil {
		return nil, err
	}
	headers.checked = true
	for _, f := range list.File {
		e, err := zipEntry(f)
		if err == nil {
			err = visit(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// maxTarget bounds the target of a link in a ZIP file, in bytes.
const maxTarget = 4 << 10

func zipEntry(f *zip.File) (*PackedEntry, error) {
	// The reader ends with an error where a file is longer than it claims.
	e := &PackedEntry{Name: f.Name, Mode: f.Mode(), Size: int64(min(f.UncompressedSize64, math.MaxInt64)), Modified: f.Modified, zipped: f}
	if e.Mode&fs.ModeSymlink == 0 {
		return e, nil
	}
	content, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	target, err := io.ReadAll(io.LimitReader(content, maxTarget))
	e.Target = string(target)
	return e, err
}

// The bits of a ZIP entry's flags that say that it, or its header, is
// encrypted. Source: PKWARE's APPNOTE, 4.4.4.
const encrypted = 1<<0 | 1<<6 | 1<<13

// checkPacking refuses an entry that is encrypted, or packed with a method that is not
// read.
func checkPacking(f *zip.File) error {
	switch {
	case f.Flags&encrypted != 0:
		return &ArchiveError{shorten(f.Name), "it is encrypted", "pack the skill without a password"}
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return &ArchiveError{shorten(f.Name), fmt.Sprintf("it is packed with method %d, which is not read", f.Method), repack}
	}
	return nil
}

// The fixed part of the header beside a file: its length in bytes, and the places of its
// fields. Source: PKWARE's APPNOTE, 4.3.7.
const (
	localHeader = 30
	localFlags  = 6
	localMethod = 8
	localPacked = 18
	localSize   = 22
	localName   = 26 // the length of the name
)

// headerReader bounds the bytes that package zip reads of the directory, and remembers the
// last header beside a file: the package uses no more of it than two lengths, and does not
// tell where it is.
type headerReader struct {
	io.ReaderAt
	left    int64
	checked bool // set before anything reads concurrently
	at      int64
	header  [localHeader]byte
}

// ReadAt implements [io.ReaderAt].
func (h *headerReader) ReadAt(p []byte, at int64) (int, error) {
	if h.checked {
		return h.ReaderAt.ReadAt(p, at)
	}
	if h.left -= int64(len(p)); h.left < 0 {
		return 0, errDirectory
	}
	n, err := h.ReaderAt.ReadAt(p, at)
	if len(p) == localHeader {
		h.at = at
		copy(h.header[:], p)
	}
	return n, err
}

// check refuses files that lie in each other, as those of some bombs do, and those that
// another program may take for others.
func (h *headerReader) check(files []*zip.File) error {
	type span struct {
		name     string
		from, to int64
	}
	spans := make([]span, 0, len(files))
	for _, file := range files {
		h.at = -1
		data, err := file.DataOffset()
		if err == nil && h.at < 0 {
			err = zip.ErrFormat
		}
		if err != nil {
			return notWhole(file.Name, err)
		}
		if err := cmp.Or(checkPacking(file), h.compare(file)); err != nil {
			return err
		}
		spans = append(spans, span{file.Name, h.at, data + int64(file.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := range spans[min(1, len(spans)):] {
		if spans[i+1].from < spans[i].to || spans[i].to < spans[i].from {
			return &ArchiveError{shorten(spans[i+1].name), fmt.Sprintf("it lies in the bytes of %q", spans[i].name), repack}
		}
	}
	return nil
}

// compare compares the last header with the entry of the directory. Sizes may stand
// behind the file, or in a field for large ones.
func (h *headerReader) compare(file *zip.File) error {
	name := make([]byte, binary.LittleEndian.Uint16(h.header[localName:]))
	if _, err := h.ReaderAt.ReadAt(name, h.at+localHeader); err != nil && err != io.EOF {
		return err
	}
	field := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(h.header[at:])) }
	behind := binary.LittleEndian.Uint16(h.header[localFlags:])&(1<<3) != 0
	differs := func(at int, size uint64) bool { return !behind && field(at) != 1<<32-1 && field(at) != size }
	if string(name) != file.Name || binary.LittleEndian.Uint16(h.header[localMethod:]) != file.Method ||
		differs(localPacked, file.CompressedSize64) || differs(localSize, file.UncompressedSize64) {
		return &ArchiveError{shorten(file.Name), fmt.Sprintf("the archive's directory and the header beside the file (%q) differ", name), repack}
	}
	return nil
}
