//go:build !linux

package stamp

import (
	"io/fs"
	"os"
)

// Of returns the stamp of a file from its info.
func Of(info fs.FileInfo) Stamp { return portable(info) }

// Look returns the stamp of the file at a path, of the link itself if it is one.
func Look(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	return Of(info), nil
}
