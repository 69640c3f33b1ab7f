//go:build amd64 || arm64

package native

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
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
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte(shortName + "\x00")[0])), 0, 0, 0); err != nil {
		return fail(stepSetup, "take a name", err)
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
// template of their mounts.
func forker(n *nest, l *layout, forks <-chan []int, forked chan<- forkResult) {
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

// newNest returns a nest whose forks begin with a script.
func newNest(generic []byte) (*nest, error) {
	memory, err := unix.Mmap(-1, 0, memoryBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fail(stepSetup, "map memory", err)
	}
	if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil && err != unix.EINVAL {
		return nil, fail(stepSetup, "map memory", err)
	}
	n := (*nest)(unsafe.Pointer(&memory[0]))
	n.memory, n.page = unsafe.Pointer(&memory[0]), uintptr(os.Getpagesize())
	n.all, n.child, n.zero[0] = ^uint64(0), 1<<(unix.SIGCHLD-1), '0'
	copy(n.path[:], "/proc/")
	n.generic = aligned(unsafe.Sizeof(*n))
	n.incoming = aligned(n.generic + uintptr(copy(memory[n.generic:], generic)))
	n.room = memoryBytes - n.incoming - headerWords*wordBytes
	n.vector = unix.Iovec{Base: &memory[n.incoming], Len: headerWords * wordBytes}
	n.header = unix.Msghdr{Iov: &n.vector, Iovlen: 1, Control: &n.rights[0]}
	if err := unix.Statx(unix.AT_FDCWD, "/proc/self/exe", 0, unix.STATX_INO, &n.stat); err != nil {
		return nil, fail(stepSetup, "find own executable", err)
	}
	n.exeMajor, n.exeMinor, n.exeInode = n.stat.Dev_major, n.stat.Dev_minor, n.stat.Ino
	return n, nil
}

func aligned(offset uintptr) uintptr { return (offset + wordBytes - 1) &^ (wordBytes - 1) }

// keepHeap keeps Go's memory from the forks, but for the program's own variables,
// what is the calling thread's and, at each fork, the stack.
func (n *nest) keepHeap() error {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return fail(stepSetup, "read own maps", err)
	}
	end := uintptr(0) // of the last mapping that belongs to a file
	for text := range strings.Lines(string(maps)) {
		m, ok := parseMapping(text)
		switch {
		case !ok:
		case m.file || m.start == end:
			end = m.end
		case m.private && (m.end <= uintptr(n.memory) || m.start >= uintptr(n.memory)+memoryBytes):
			// Where it is refused the memory is copied.
			_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTFORK)
		}
	}
	if thread := threadMemory(); thread != 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, thread&^(n.page-1), n.page, unix.MADV_DOFORK)
	}
	return nil
}

// A mapping is one of a process's memory, see proc_pid_maps(5).
type mapping struct {
	start, end uintptr
	private    bool // writable, and not shared
	file       bool // of a file, or the program's arguments, which the fork is to show as its own
}

func parseMapping(text string) (m mapping, ok bool) {
	fields := strings.Fields(text)
	if len(fields) < 5 {
		return m, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	start, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return m, false
	}
	end, err := strconv.ParseUint(to, 16, 64)
	return mapping{uintptr(start), uintptr(end), strings.HasPrefix(fields[1], "rw-p"), fields[4] != "0" || fields[len(fields)-1] == "[stack]"}, err == nil
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
