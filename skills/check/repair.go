package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// ErrChanged is returned for a file that was modified after it was read.
var ErrChanged = errors.New("it has changed meanwhile; run it again")

// A Repair is a file with its pending changes.
type Repair struct {
	Path          string
	Changes       []Change
	before, after []byte
}

// Open reads a file and returns the changes of [Fix]. It returns nil if there are
// none, and for anything but a regular file, such as a link.
func Open(path string, strict bool) (*Repair, error) {
	before, _, err := read(path)
	if err != nil || before == nil {
		return nil, err
	}
	after, changes := Fix(before, strict)
	if len(changes) == 0 {
		return nil, nil
	}
	return &Repair{path, changes, before, after}, nil
}

// read returns the content of a regular file, nil if it is not one or too large.
func read(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, nil, err
	}
	data, err := os.ReadFile(path)
	return data, info, err
}

// Write replaces the file atomically with the repaired content, keeping its mode. The
// error is [ErrChanged] if somebody else has written to it since. With any error the file
// is unchanged.
func (r *Repair) Write() error {
	now, info, err := read(r.Path)
	switch {
	case err != nil:
		return err
	case info == nil || !bytes.Equal(now, r.before):
		return ErrChanged
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("it is read-only: %w", fs.ErrPermission)
	}
	return atomicfile.Write(r.Path, func(w io.Writer) error {
		file := w.(*os.File)
		_, err := file.Write(r.after)
		return errors.Join(err, file.Sync(), file.Chmod(info.Mode().Perm()))
	})
}
