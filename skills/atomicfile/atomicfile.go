// Package atomicfile writes files that others may read at any time.
//
// Start with [Write].
package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write replaces a file, which only its owner may read then, by what content
// writes. Whoever opens it finds the old one or the new one, and with an error
// the old one stays. Its folder is made where there is none.
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

// WriteBytes is [Write] with content that is there.
func WriteBytes(name string, data []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
