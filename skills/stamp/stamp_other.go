//go:build !linux

package stamp

import (
	"io/fs"
	"os"
)

// Of returns the stamp of a file that was looked at.
func Of(info fs.FileInfo) Stamp { return portable(info) }

// Look returns the stamp of what is at a path, with no link followed.
func Look(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	return Of(info), nil
}
