package stamp

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Written reports whether a process has an open file open for writing, or mapped. It is
// false where the system does not say: for the files of other users, and on file
// systems without leases.
//
// It asks for a read lease, which the kernel refuses while there is a writer, and
// returns it at once. A process that opens the file in that moment waits for a
// microsecond, and this one gets a SIGIO, which Go ignores.
func Written(file fs.File) bool {
	opened, ok := file.(syscall.Conn)
	if !ok {
		return false
	}
	conn, err := opened.SyscallConn()
	if err != nil {
		return false
	}
	written := false
	_ = conn.Control(func(fd uintptr) {
		if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); err != nil {
			written = err == unix.EAGAIN
			return
		}
		_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK) // closing the file would return it, too
	})
	return written
}
