package quarantine

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// zip writes the entries of a ZIP file's central directory, after it has checked that
// all of them agree with the headers beside the files, which other programs may read.
func (u *unpacker) zip(archive io.ReaderAt, size int64) error {
	headers := &headerReader{ReaderAt: archive}
	list, err := skillfs.ReadZIP(headers, size)
	if err != nil {
		return asError("", err)
	}
	if len(list.File) > 2*u.folder.limits.Files {
		return u.folder.names.tooMany("")
	}
	if err := headers.check(u, list.File); err != nil {
		return err
	}
	for _, file := range list.File {
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		if err := u.zipEntry(file); err != nil {
			return u.fault(file.Name, err)
		}
	}
	return nil
}

func (u *unpacker) zipEntry(file *zip.File) error {
	name, err := u.path(file.Name)
	if name == "" || err != nil {
		return err
	}
	mode := file.Mode()
	link := mode&fs.ModeSymlink != 0
	switch {
	case mode.IsDir():
		return u.folder.mkdir(name)
	case !link && !mode.IsRegular():
		return errSpecial(name)
	case file.UncompressedSize64 > uint64(u.folder.limits.File):
		return u.folder.tooLarge(name)
	}
	if err := skillfs.CheckPacking(file); err != nil {
		return asError(name, err)
	}
	content, err := file.Open()
	if err != nil {
		return u.broken(name, err)
	}
	defer content.Close()
	if !link {
		return u.create(name, mode&0o111 != 0, name, content)
	}
	target, err := io.ReadAll(io.LimitReader(content, maxTarget+1))
	if err != nil {
		return u.broken(name, err)
	}
	return u.folder.Link(name, string(target))
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

// headerReader remembers the last header beside a file that package zip has read: the
// package uses no more of it than two lengths, and does not tell where it is.
type headerReader struct {
	io.ReaderAt
	at     int64
	header [localHeader]byte
}

// ReadAt implements [io.ReaderAt].
func (h *headerReader) ReadAt(p []byte, at int64) (int, error) {
	n, err := h.ReaderAt.ReadAt(p, at)
	if len(p) == localHeader {
		h.at = at
		copy(h.header[:], p)
	}
	return n, err
}

// check refuses files that lie in each other, as those of some bombs do, and those that
// another program may take for others.
func (h *headerReader) check(u *unpacker, files []*zip.File) error {
	type span struct {
		name     string
		from, to int64
	}
	spans := make([]span, 0, len(files))
	for _, file := range files {
		h.at = -1
		data, err := file.DataOffset()
		if err != nil || h.at < 0 {
			return u.broken(file.Name, cmp.Or(err, zip.ErrFormat))
		}
		if err := h.compare(file); err != nil {
			return err
		}
		spans = append(spans, span{file.Name, h.at, data + int64(file.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := range spans[min(1, len(spans)):] {
		if spans[i+1].from < spans[i].to || spans[i].to < spans[i].from {
			return &Error{spans[i+1].name, fmt.Sprintf("it lies in the bytes of %q", spans[i].name), repack}
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
		return &Error{file.Name, fmt.Sprintf("the archive's directory and the header beside the file (%q) differ", name), repack}
	}
	return nil
}
