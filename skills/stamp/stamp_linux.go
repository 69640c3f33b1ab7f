package stamp

import (
	"io/fs"
	"syscall"
)

// Of returns the stamp of a file that was looked at.
func Of(info fs.FileInfo) Stamp {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return ofStat(stat)
	}
	return portable(info)
}

// Look returns the stamp of what is at a path, with no link followed.
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
