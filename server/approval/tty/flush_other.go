//go:build !linux && !windows

package tty

import "golang.org/x/sys/unix"

const getTermios, flushTermios = unix.TIOCGETA, unix.TIOCSETAF

// flush discards what was typed and not read yet.
func flush(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) } // 1 is FREAD
