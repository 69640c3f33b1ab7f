//go:build unix

package lock

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// SyncFolder makes the disk have the entries of a folder of root, slash-separated. Some
// file systems cannot, and need not.
func SyncFolder(root *os.Root, name string) error {
	folder, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
