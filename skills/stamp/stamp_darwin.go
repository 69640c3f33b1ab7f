package stamp

import (
	"io/fs"
	"syscall"
)

// Of returns the stamp of a file from its info.
func Of(info fs.FileInfo) Stamp {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return portable(info)
	}
	return Stamp{uint64(s.Dev), s.Ino, uint64(s.Size), uint64(s.Mode), s.Ctimespec.Nano(), s.Mtimespec.Nano()}
}
