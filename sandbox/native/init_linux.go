//go:build amd64 || arm64

package native

import (
	"os"
	"runtime"
)

const (
	// initName is the zygote's argv[0], and so that of its forks. No slash, so
	// that no skill's path is it.
	initName = "skills-mcp: sandbox"
	// shortName is what the kernel calls it.
	shortName = "skills-mcp"
	// zygoteControl is the zygote's end of the socket pair.
	zygoteControl = 3
)

// init turns this process into a zygote, and then never returns, if that is what
// a [Driver] started it for.
//
// It is the one init function of the program: main begins only when every
// package is initialized, which for this program takes longer (8 ms, measured)
// than all that a zygote does.
func init() {
	if len(os.Args) != 1 || os.Args[0] != initName {
		return
	}
	runtime.LockOSThread() // see forker
	l := &line{file: os.NewFile(zygoteControl, "server")}
	server := newMessenger(l)
	var err error
	if l.raw, err = l.file.SyscallConn(); err == nil {
		err = zygoteMain(server)
	}
	if err != nil {
		_ = server.send(&answer{Failed: asFailure(err)}, nil)
		os.Exit(1)
	}
	os.Exit(0)
}
