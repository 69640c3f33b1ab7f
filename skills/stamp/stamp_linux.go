package stamp

import (
	"io/fs"
	"syscall"
)

// Of returns the stamp of a file from its info.
func Of(info fs.FileInfo) Stamp {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return ofStat(stat)
	}
	return portable(info)
}

// Look returns the stamp of the file at a path, of the link itself if it is one.
func Look(path string) (Stamp, error) {
	var stat syscall.Stat_t
	for {
		switch err := syscall.Lstat(path, &stat); err {
		case nil:
			return ofStat(&stat), nil
		case syscall.EINTR:
		default:
			return Stamp{}, err
		}
	}
}

func ofStat(s *syscall.Stat_t) Stamp {
	return Stamp{uint64(s.Dev), s.Ino, uint64(s.Size), uint64(s.Mode), s.Ctim.Nano(), s.Mtim.Nano()}
}
