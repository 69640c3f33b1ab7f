//go:build unix

package check

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and group of another, if they differ.
func keepOwner(folder *os.Root, name string, like fs.FileInfo) error {
	info, err := folder.Lstat(name)
	if err != nil {
		return err
	}
	is, known := info.Sys().(*syscall.Stat_t)
	was, knownToo := like.Sys().(*syscall.Stat_t)
	if !known || !knownToo || is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	return folder.Lchown(name, int(was.Uid), int(was.Gid))
}
