//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// ownedByRoot reports whether root owns a file.
func ownedByRoot(info fs.FileInfo) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && stat.Uid == 0
}
