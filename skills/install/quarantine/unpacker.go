package quarantine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

const repack = "pack the folder anew, with zip -r or tar -czf"

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
