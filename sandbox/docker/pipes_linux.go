package docker

import (
	"errors"
	"os"
	"syscall"

	"github.com/docker/docker/api/types/system"
)

// openPipe creates a named pipe that every user of its folder may use, and opens both
// of its ends.
func openPipe(name string) (reader, writer *os.File, err error) {
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		return nil, nil, &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	if err := os.Chmod(name, 0o666); err != nil { // whatever the umask
		return nil, nil, err
	}
	reader, err = os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	writer, err = os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, errors.Join(err, reader.Close())
	}
	return reader, writer, nil
}

// sameKernel reports whether an engine may run on this machine's kernel, which named
// pipes need. One of another kernel has another version nearly always, and a container
// that does not come to its pipes gets none.
func sameKernel(info system.Info) bool {
	var own syscall.Utsname
	if err := syscall.Uname(&own); err != nil {
		return false
	}
	var release []byte
	for _, c := range own.Release {
		if c == 0 {
			break
		}
		release = append(release, byte(c))
	}
	return len(release) > 0 && info.KernelVersion == string(release)
}
