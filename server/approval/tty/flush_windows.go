package tty

import "golang.org/x/sys/windows"

// flush discards what was typed and not read yet.
func flush(fd int) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }

// hide has a terminal show nothing that is typed, until show is called.
func hide(fd int) (show func()) {
	var before uint32
	if windows.GetConsoleMode(windows.Handle(fd), &before) != nil {
		return func() {}
	}
	_ = windows.SetConsoleMode(windows.Handle(fd), before&^windows.ENABLE_ECHO_INPUT)
	return func() { _ = windows.SetConsoleMode(windows.Handle(fd), before) }
}
