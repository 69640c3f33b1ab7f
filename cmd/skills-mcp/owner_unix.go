//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// ownedBy reports whether a user owns a file.
func ownedBy(info fs.FileInfo, uid uint32) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && stat.Uid == uid
}
