package quarantine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

const repack = "pack the folder anew, with zip -r or tar -czf"

// Unpack writes the files of a ZIP, tar.gz or tar file below the folder into, by its
// first bytes. The error is an [*Error] with the name of the entry, where the archive is
// at fault; the quarantine has what came before it. It leaves out .git. A hard link to a
// file earlier in the archive becomes a copy of it.
func (f *Folder) Unpack(ctx context.Context, archive io.ReaderAt, size int64, into string) error {
	return f.UnpackPart(ctx, archive, size, into, func(name string) string { return name })
}

// UnpackPart is [Folder.Unpack] for a part of an archive. pick gets the clean path of
// each entry, and returns its path below into; "" leaves it out.
func (f *Folder) UnpackPart(ctx context.Context, archive io.ReaderAt, size int64, into string, pick func(name string) string) error {
	u := &unpacker{f, ctx, strings.Trim(into, "/"), pick}
	if size > f.limits.Total {
		return &Error{"", fmt.Sprintf("the archive is larger than %s", bytesText(f.limits.Total)), "leave out what the skill does not need"}
	}
	magic := make([]byte, 512)
	n, err := archive.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	all := bufio.NewReader(io.NewSectionReader(archive, 0, size))
	switch magic = magic[:n]; {
	case bytes.HasPrefix(magic, []byte("PK")):
		return u.zip(archive, size)
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		stream, err := skillfs.Gunzip(all, f.limits.Total+headroom)
		if err != nil {
			return u.broken("", err)
		}
		return u.tar(stream)
	case n == len(magic) && string(magic[257:262]) == "ustar": // POSIX.1-1988, 10.1.1
		return u.tar(all)
	}
	return &Error{"", "it is neither a ZIP nor a tar.gz file, by its first bytes", repack}
}

// An unpacker writes the entries of one archive.
type unpacker struct {
	folder *Folder
	ctx    context.Context
	into   string // without slashes at its ends; "" is the top
	pick   func(name string) string
}

// path returns the path of an entry in the quarantine; "" leaves it out.
func (u *unpacker) path(entry string) (string, error) {
	clean, err := u.folder.names.clean(entry)
	if err != nil {
		return "", err
	}
	if inGit(clean) {
		u.folder.names.omit(clean)
		return "", nil
	}
	if clean = u.pick(clean); clean == "" || u.into == "" || u.into == "." {
		return clean, nil
	}
	return u.into + "/" + clean, nil
}

// fault returns an error with the name that the archive has for an entry.
func (u *unpacker) fault(entry string, err error) error {
	var fault *Error
	if errors.As(err, &fault) {
		return &Error{entry, fault.Message, fault.Remedy}
	}
	return err
}

// broken returns the error of an archive, or of an entry, that cannot be read.
func (u *unpacker) broken(entry string, err error) error {
	var fault *Error
	switch {
	case u.ctx.Err() != nil:
		return context.Cause(u.ctx)
	case errors.As(err, &fault):
		return err
	case errors.Is(err, skillfs.ErrStream):
		return &Error{entry, fmt.Sprintf("the archive unpacks to more than %s", bytesText(u.folder.limits.Total)), "leave out what the skill does not need"}
	}
	return &Error{entry, "the archive is not whole: " + err.Error(), repack}
}

// create writes a file. An error of reading it is the entry's.
func (u *unpacker) create(name string, executable bool, entry string, content io.Reader) error {
	return u.folder.Create(name, executable, &entryReader{u, entry, content})
}

// An entryReader reads a file of an archive until the context is done.
type entryReader struct {
	*unpacker
	entry   string
	content io.Reader
}

func (r *entryReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	n, err := r.content.Read(p)
	if err != nil && err != io.EOF {
		err = r.broken(r.entry, err)
	}
	return n, err
}
