package stamp

import (
	"fmt"
	"os"
	"syscall"
)

// Identity returns a text that identifies the file or folder at a path, whatever becomes
// of its content: another one that takes its place has another identity. It is its inode
// with the time at which that was created, which an inode number that is used again does
// not repeat, and its owner. Links are not followed.
func Identity(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("identify %s: the system does not say which file it is", path)
	}
	return fmt.Sprintf("inode %d, created %d.%09d, user %d", s.Ino, s.Birthtimespec.Sec, s.Birthtimespec.Nsec, s.Uid), nil
}
