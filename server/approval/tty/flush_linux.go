package tty

import "golang.org/x/sys/unix"

// flush discards what was typed and not read yet.
func flush(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
