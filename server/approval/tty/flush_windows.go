package tty

import "golang.org/x/sys/windows"

// flush discards what was typed and not read yet.
func flush(fd int) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
