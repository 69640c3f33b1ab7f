package quarantine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Unpack writes the files of a ZIP, tar.gz or tar file below the folder into, by its
// first bytes. The error is an [*Error] with the name of the entry, where the archive is
// at fault; the quarantine keeps the entries before it. It leaves out .git. A hard link to a
// file earlier in the archive becomes a copy of it.
func (f *Folder) Unpack(ctx context.Context, archive io.ReaderAt, size int64, into string) error {
	if size > f.limits.Total {
		return &Error{"", fmt.Sprintf("the archive is larger than %s", bytesText(f.limits.Total)), "leave out what the skill does not need"}
	}
	u := &unpacker{f, ctx, strings.Trim(into, "/"), 0}
	_, err := skillfs.ReadArchive(archive, size, f.limits.Total, u.visit)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return asError("", err)
}

// An unpacker writes the entries of one archive.
type unpacker struct {
	folder  *Folder
	ctx     context.Context
	into    string // without slashes at its ends; "" is the top
	entries int
}

func (u *unpacker) visit(e *skillfs.PackedEntry) error {
	u.entries++
	switch {
	case u.ctx.Err() != nil:
		return context.Cause(u.ctx)
	case u.entries > 2*u.folder.limits.Files: // a folder may be there twice
		return u.folder.names.tooMany(e.Name)
	}
	err := asError(e.Name, u.write(e))
	var fault *Error
	if errors.As(err, &fault) {
		return &Error{e.Name, fault.Message, fault.Remedy}
	}
	return err
}

// write writes an entry.
func (u *unpacker) write(e *skillfs.PackedEntry) error {
	name, err := u.path(e.Name)
	if name == "" || err != nil {
		return err
	}
	switch kind := e.Mode.Type(); {
	case kind == fs.ModeDir:
		return u.folder.mkdir(name)
	case kind == fs.ModeSymlink:
		return u.folder.Link(name, e.Target)
	case kind == fs.ModeIrregular:
		return u.copyLinked(name, e)
	case kind != 0:
		return errSpecial(name)
	case e.Size > u.folder.limits.File: // as sparse files may say for nothing
		return u.folder.tooLarge(name)
	}
	content, err := e.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	return u.folder.Create(name, e.Mode&0o111 != 0, content)
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
	if u.into == "" || u.into == "." {
		return clean, nil
	}
	return u.into + "/" + clean, nil
}

// copyLinked copies the file that a hard link leads to. A tree of hard links costs its
// bytes as often.
func (u *unpacker) copyLinked(name string, e *skillfs.PackedEntry) error {
	from, err := u.path(e.Target)
	if err != nil {
		return err
	}
	if known, ok := u.folder.names.get(from); from == "" || !ok || known.folder || known.link {
		return &Error{name, "the hard link leads to no file earlier in the archive", "put the file in its place"}
	}
	file, err := u.folder.root.Open(filepath.FromSlash(from))
	if err != nil {
		return err
	}
	defer file.Close()
	return u.folder.Create(name, e.Mode&0o111 != 0, file)
}
