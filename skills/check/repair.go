package check

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	before, _, err := read(folder, filepath.Base(path))
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
func read(folder *os.Root, name string) ([]byte, fs.FileInfo, error) {
	info, err := folder.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, nil, err
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(data) > maxFile {
		return nil, nil, err
	}
	return data, info, nil
}

// Write replaces the file atomically with the repaired content, keeping mode and
// owner. The error is [ErrChanged] if somebody else has written to it since. With
// any error the file is unchanged.
func (r *Repair) Write() (err error) {
	folder, err := os.OpenRoot(filepath.Dir(r.Path))
	if err != nil {
		return err
	}
	defer folder.Close()
	name := filepath.Base(r.Path)
	info, err := r.unchanged(folder, name)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("it is read-only: %w", fs.ErrPermission)
	}
	temporary := "." + name + "." + rand.Text()[:10]
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(folder.Remove(temporary)))
		}
	}()
	if err := r.create(folder, temporary, info); err != nil {
		return err
	}
	// Compared again as late as possible.
	if _, err := r.unchanged(folder, name); err != nil {
		return err
	}
	return folder.Rename(temporary, name)
}

// unchanged returns the file's current info, or ErrChanged.
func (r *Repair) unchanged(folder *os.Root, name string) (fs.FileInfo, error) {
	now, info, err := read(folder, name)
	if err != nil {
		return nil, err
	}
	if info == nil || !bytes.Equal(now, r.before) {
		return nil, ErrChanged
	}
	return info, nil
}

// create writes the repaired content to a new file with the old one's mode and
// owner.
func (r *Repair) create(folder *os.Root, name string, like fs.FileInfo) error {
	file, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(r.after)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := keepOwner(folder, name, like); err != nil {
		return fmt.Errorf("keep its owner: %w", err)
	}
	return folder.Chmod(name, like.Mode().Perm())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
