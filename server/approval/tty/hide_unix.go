//go:build !windows

package tty

import "golang.org/x/sys/unix"

// hide has a terminal show nothing that is typed but line ends, until show is called. Both
// discard what was typed before.
func hide(fd int) (show func()) {
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return func() {}
	}
	hidden := *before
	hidden.Lflag = hidden.Lflag&^unix.ECHO | unix.ECHONL
	_ = unix.IoctlSetTermios(fd, flushTermios, &hidden)
	return func() { _ = unix.IoctlSetTermios(fd, flushTermios, before) }
}
