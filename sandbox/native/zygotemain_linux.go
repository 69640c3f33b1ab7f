//go:build amd64 || arm64

package native

import (
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// initName is the zygote's argv[0], and so that of its forks. No slash, so
	// that no skill's path is it.
	initName = "skills-mcp: sandbox"
	// zygoteControl is the zygote's end of the socket pair.
	zygoteControl = 3
)

// init turns this process into a zygote, and then never returns, if a [Driver]
// started it for that.
//
// It is the only init function of the program. With it, each program that imports
// this package can make sandboxes, tests and benchmarks too, without a call in its
// main. It saves no time: with Go 1.26 this package is among the last to be
// initialized, 31 ms of 32 after the start (GODEBUG=inittrace=1, loaded machine).
func init() {
	if len(os.Args) != 1 || os.Args[0] != initName {
		return
	}
	runtime.LockOSThread() // see forker
	l := &socket{file: os.NewFile(zygoteControl, "server")}
	server := newMessenger(l)
	var err error
	if l.raw, err = l.file.SyscallConn(); err == nil {
		err = zygoteMain(server)
	}
	if err != nil {
		_ = server.send(&reply{Failed: asFailure(err)}, nil)
		os.Exit(1)
	}
	os.Exit(0)
}

// A zygoteConfig is the first message to a zygote.
type zygoteConfig struct {
	Layout  layout
	Generic []byte // the packed sequence that every init begins with
}

// A request asks for a fork, or for open trees of mounts.
type request struct {
	Fork   bool // the init's control socket and its cgroups' files come with it
	Mounts []mount
}

// A reply answers a zygoteConfig or a request. The descriptors that were asked
// for are sent with it.
type reply struct {
	Failed failure // when its Step is set
}

// zygoteMain runs the zygote until the server ends it. The zygote has the
// host's mounts, to open trees of them; its forks never had them.
func zygoteMain(server *messenger) error {
	// When memory runs out, the kernel ends sandboxes before other processes of the
	// host. A refusal changes nothing.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	// No process in a sandbox may look into this one or its forks, which run the
	// host's file and, for some time, have capabilities.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fail(stepSetup, "become undumpable", err)
	}
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte(shortName + "\x00")[0])), 0, 0, 0); err != nil {
		return fail(stepSetup, "take a name", err)
	}
	unix.Umask(0o022)
	closeInherited()
	signal.Ignore(unix.SIGCHLD) // the kernel reaps the children
	var b zygoteConfig
	if _, err := server.receive(&b); err != nil {
		return fail(stepControl, "", err)
	}
	n, err := newInitProcess(b.Generic)
	if err != nil {
		return err
	}
	forks, forked := make(chan []int), make(chan forkResult)
	go forker(n, &b.Layout, forks, forked)
	if ready := <-forked; ready.err != nil {
		return ready.err
	}
	if err := server.send(&reply{}, nil); err != nil {
		return fail(stepControl, "", err)
	}
	for {
		var r request
		fds, err := server.receive(&r)
		if err != nil {
			return nil // the server needs no more
		}
		attend(server, &r, fds, forks, forked)
	}
}

// closeInherited closes the descriptors that the server inherited and passed
// on. Those that close on exec belong to Go's runtime.
func closeInherited() {
	entries, _ := os.ReadDir("/proc/self/fd") // the forks close all of them in any case
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= zygoteControl {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	unix.CloseOnExec(zygoteControl)
}

func attend(server *messenger, r *request, fds []int, forks chan<- []int, forked <-chan forkResult) {
	var a reply
	var open []int
	var err error
	if r.Fork {
		forks <- fds
		result := <-forked
		if err = result.err; err == nil {
			open = []int{result.pidfd}
		}
	} else {
		open, err = openTrees(r.Mounts)
	}
	closeAll(fds)
	if err != nil {
		a.Failed = asFailure(err)
	}
	_ = server.send(&a, open) // without a server there is no next request
	closeAll(open)
}

// A forkResult is the outcome of a fork, or of the preparation for forks.
type forkResult struct {
	pidfd int
	err   error
}

// forker makes the zygote's forks on a thread of its own, which alone sees the
// template of their mounts.
func forker(n *initProcess, l *layout, forks <-chan []int, forked chan<- forkResult) {
	runtime.LockOSThread()
	err := buildTemplate(l)
	if err == nil {
		err = n.keepHeap()
	}
	forked <- forkResult{err: err}
	for fds := range forks {
		n.control, n.grouped = int32(fds[0]), int32(copyFDs(n.groups[:], fds[1:]))
		var result forkResult
		if _, errno := n.fork(); errno != 0 {
			result.err = fail(stepSetup, "make namespaces", errno)
		}
		result.pidfd = int(n.pidfd)
		forked <- result
	}
}

func copyFDs(to []int32, from []int) (count int) {
	for count < min(len(to), len(from)) {
		to[count] = int32(from[count])
		count++
	}
	return count
}
