package stamp

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Identity returns a text that identifies the file or folder at a path, whatever becomes
// of its content: another one that takes its place has another identity. It is its inode
// with the time at which that was created, which an inode number that is used again does
// not repeat, and its owner. Device numbers are no part of it, as they change when the
// machine starts. Links are not followed.
func Identity(path string) (string, error) {
	var s unix.Statx_t
	for {
		err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_UID|unix.STATX_BTIME, &s)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return "", &fs.PathError{Op: "stat", Path: path, Err: err}
		case s.Mask&unix.STATX_BTIME == 0:
			return fmt.Sprintf("inode %d, user %d", s.Ino, s.Uid), nil
		default:
			return fmt.Sprintf("inode %d, created %d.%09d, user %d", s.Ino, s.Btime.Sec, s.Btime.Nsec, s.Uid), nil
		}
	}
}
