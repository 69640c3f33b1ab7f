// Package atomicfile replaces files that others may read at any time.
//
// Start with [Write].
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write replaces a file by the output of content. Readers see the old file or the
// new one; after an error the old one remains. The new file is readable by its
// owner only. Write creates a missing folder.
func Write(name string, content func(io.Writer) error) (err error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, filepath.Base(name)+"-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	err = content(temporary)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}

// Create makes a file that holds data, as [Write] does, and appears whole, even after a crash. An existing file
// stays, and is an [fs.ErrExist]: of programs that start at once, one creates it.
func Create(name string, data []byte) error {
	temporary := name + "-" + rand.Text()
	err := Write(temporary, func(w io.Writer) error {
		_, err := w.Write(data)
		return errors.Join(err, w.(*os.File).Sync())
	})
	if err != nil {
		return err
	}
	return errors.Join(os.Link(temporary, name), os.Remove(temporary))
}

// WriteBytes replaces a file by data, as [Write] does.
func WriteBytes(name string, data []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
