//go:build !linux

package parsecache

import (
	"io/fs"
	"os"
)

// stampOf returns the stamp of a file that was looked at.
func stampOf(info fs.FileInfo) stamp { return portable(info) }

// look returns the stamp of what is at a path, with no link followed.
func look(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}
