package install

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// exchange swaps two folders of root at once, so that each path has one of them at any
// time. The error is [errors.ErrUnsupported] where the file system cannot.
func exchange(root *os.Root, a, b string) error {
	a, b = filepath.FromSlash(a), filepath.FromSlash(b)
	from, err := root.Open(filepath.Dir(a))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := root.Open(filepath.Dir(b))
	if err != nil {
		return err
	}
	defer to.Close()
	err = unix.Renameat2(int(from.Fd()), filepath.Base(a), int(to.Fd()), filepath.Base(b), unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return errors.ErrUnsupported
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}
