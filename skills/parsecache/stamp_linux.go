package parsecache

import (
	"io/fs"
	"syscall"
)

// stampOf returns the stamp of a file that was looked at.
func stampOf(info fs.FileInfo) stamp {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return ofStat(stat)
	}
	return portable(info)
}

// look returns the stamp of what is at a path, with no link followed.
func look(path string) (stamp, error) {
	var stat syscall.Stat_t
	for {
		switch err := syscall.Lstat(path, &stat); err {
		case nil:
			return ofStat(&stat), nil
		case syscall.EINTR:
		default:
			return stamp{}, err
		}
	}
}

func ofStat(s *syscall.Stat_t) stamp {
	return stamp{uint64(s.Dev), s.Ino, uint64(s.Size), uint64(s.Mode), s.Ctim.Nano(), s.Mtim.Nano()}
}
