//go:build unix

package setup

import (
	"io/fs"
	"syscall"
)

// OwnedBy reports whether a user owns a file.
func OwnedBy(info fs.FileInfo, uid uint32) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && stat.Uid == uid
}
