package tty

import "golang.org/x/sys/unix"

const getTermios, flushTermios = unix.TCGETS, unix.TCSETSF

// flush discards what was typed and not read yet.
func flush(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
