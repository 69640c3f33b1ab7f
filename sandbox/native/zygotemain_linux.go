//go:build amd64 || arm64

package native

import (
	"errors"
	"os"
	"runtime"
	"syscall"
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
	server := &line{file: os.NewFile(zygoteControl, "server")}
	var err error
	if server.raw, err = server.file.SyscallConn(); err == nil {
		err = zygoteMain(server)
	}
	if err != nil {
		_ = server.sendMessage(&answer{Failed: asFailure(err)}, nil)
		os.Exit(1)
	}
	os.Exit(0)
}

// A birth is the first message to a zygote.
type birth struct {
	Layout  layout
	Generic string // the packed script that every init begins with
}

func (b *birth) pack(c *codec) { b.Layout.pack(c); c.text(&b.Generic) }

// A request is for a fork, or for open trees of mounts.
type request struct {
	Fork   bool // the init's control socket and its cgroups' files come with it
	Mounts []mount
}

func (r *request) pack(c *codec) { c.flag(&r.Fork); list(c, &r.Mounts, func(m *mount) { m.pack(c) }) }

// An answer is to a birth or a request. What was asked for comes with it.
type answer struct {
	Failed failure // when its Step is set
}

func (a *answer) pack(c *codec) { a.Failed.pack(c) }

// zygoteMain is the zygote, until the server ends it. It keeps the host's mounts,
// to open trees of them; its forks have never had them.
func zygoteMain(server *line) error {
	// No process in a sandbox may look into this one or its forks, which run the
	// host's file and, for some time, have capabilities.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fail(stepSetup, "become undumpable", err)
	}
	unix.Umask(0o022)
	if err := unix.CloseRange(zygoteControl, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fail(stepSetup, "close_range", err)
	}
	forgetChildren()
	var b birth
	if _, err := server.receiveMessage(&b); err != nil {
		return fail(stepControl, "", err)
	}
	n, err := newNest([]byte(b.Generic))
	if err != nil {
		return err
	}
	forks, forked := make(chan []int), make(chan forkResult)
	go forker(n, &b.Layout, forks, forked)
	if ready := <-forked; ready.err != nil {
		return ready.err
	}
	if err := server.sendMessage(&answer{}, nil); err != nil {
		return fail(stepControl, "", err)
	}
	for {
		var r request
		fds, err := server.receiveMessage(&r)
		if err != nil {
			return nil // the server needs no more
		}
		attend(server, &r, fds, forks, forked)
	}
}

func attend(server *line, r *request, fds []int, forks chan<- []int, forked <-chan forkResult) {
	var a answer
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
	_ = server.sendMessage(&a, open) // without a server there is no next request
	closeAll(open)
}

// forgetChildren has the kernel reap this process's children. Go's runtime has
// no part in it.
func forgetChildren() {
	ignore := [4]uint64{1} // struct sigaction, its handler first: SIG_IGN
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD),
		uintptr(unsafe.Pointer(&ignore)), 0, 8, 0, 0)
}

// A forkResult is what came of a fork, or of getting ready for forks.
type forkResult struct {
	pidfd int
	err   error
}

// forker makes the zygote's forks on a thread of its own, which alone sees the
// template of their mounts, and on whose end, as at the zygote's, the kernel
// kills them.
func forker(n *nest, l *layout, forks <-chan []int, forked chan<- forkResult) {
	runtime.LockOSThread()
	forked <- forkResult{err: buildTemplate(l)}
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

// newNest returns a nest whose forks begin with a script.
func newNest(generic []byte) (*nest, error) {
	memory, err := unix.Mmap(-1, 0, memoryBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fail(stepSetup, "map memory", err)
	}
	if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil && err != unix.EINVAL {
		return nil, fail(stepSetup, "map memory", err)
	}
	n := &nest{memory: unsafe.Pointer(&memory[0]), all: ^uint64(0), child: 1 << (unix.SIGCHLD - 1), zero: [2]byte{'0'}}
	end := sharedBytes + copy(memory[sharedBytes:], generic)
	n.incoming = uintptr(end+sharedBytes-1) &^ (sharedBytes - 1)
	n.room = memoryBytes - n.incoming - headerWords*wordBytes
	n.vector = unix.Iovec{Base: &memory[n.incoming], Len: headerWords * wordBytes}
	n.header = unix.Msghdr{Iov: &n.vector, Iovlen: 1, Control: &n.rights[0]}
	if err := unix.Statx(unix.AT_FDCWD, "/proc/self/exe", 0, unix.STATX_INO, &n.stat); err != nil {
		return nil, fail(stepSetup, "find own executable", err)
	}
	n.exeMajor, n.exeMinor, n.exeInode = n.stat.Dev_major, n.stat.Dev_minor, n.stat.Ino
	return n, nil
}

// fail returns nil for a nil error, and otherwise a failure that can be sent.
func fail(s step, what string, err error) error {
	if err == nil {
		return nil
	}
	f := &failure{Step: s, What: what, Errno: unix.EIO}
	errors.As(err, &f.Errno)
	return f
}

func asFailure(err error) failure {
	var f *failure
	if errors.As(err, &f) {
		return *f
	}
	failed := failure{Step: stepSetup, What: err.Error(), Errno: unix.EIO}
	errors.As(err, (*syscall.Errno)(&failed.Errno))
	return failed
}
