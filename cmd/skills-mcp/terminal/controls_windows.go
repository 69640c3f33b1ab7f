package terminal

import "golang.org/x/sys/windows"

// enableControls reports whether a console understands control sequences, after asking it
// to: consoles before Windows 10 do not.
func enableControls(fd uintptr) bool {
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(fd), &mode) != nil {
		return false
	}
	const virtual = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&virtual != 0 || windows.SetConsoleMode(windows.Handle(fd), mode|virtual) == nil
}
