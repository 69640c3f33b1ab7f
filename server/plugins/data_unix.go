//go:build linux || darwin

package plugins

import (
	"io/fs"
	"syscall"
)

// allocated returns the bytes that a file has on its file system.
func allocated(info fs.FileInfo) int64 {
	const blockBytes = 512
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(stat.Blocks) * blockBytes
	}
	return 0
}

// freeSpace returns the bytes that are left on the file system of a folder, or 0.
func freeSpace(dir string) int64 {
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) != nil {
		return 0
	}
	return int64(stat.Bavail) * int64(stat.Bsize)
}
