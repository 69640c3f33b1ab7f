package stamp

import (
	"fmt"
	"os"
	"syscall"
)

// Identity returns a text that identifies the file or folder at a path, whatever becomes
// of its content: another one that takes its place has another identity, as it was
// created at another time. Links are not followed.
func Identity(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	s, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return "", fmt.Errorf("identify %s: the system does not say which file it is", path)
	}
	return fmt.Sprintf("created %d", s.CreationTime.Nanoseconds()), nil
}
