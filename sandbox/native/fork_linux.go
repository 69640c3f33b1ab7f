//go:build amd64 || arm64

package native

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What is in this file runs in forks of a Go program that execute nothing: the
// inits. Go's runtime is not there for them, as its other threads are not, so
// they may only do what the standard library does between fork and exec: no
// allocation, no growing of the stack, no function that may do either. Hence the
// directives, of which "nosplit" is the one that matters and the others are about
// what tests add.

// A nest is what the zygote prepares for its forks, and each fork's own state
// once it is one. It lies in memory of its own, outside of Go's heap, of which
// the forks have nothing: to copy, and to end, memory that is not needed would
// be most of what an init costs.
type nest struct {
	memory   unsafe.Pointer // memoryBytes, mapped: the areas below, and this
	room     uintptr        // how many bytes a script that comes may have
	generic  uintptr        // where the first script is: its offset in memory
	incoming uintptr        // where those are put that come
	page     uintptr        // bytes

	control int32            // the socket to the server
	groups  [maxGroups]int32 // files to write "0" to, to enter a cgroup
	grouped int32            // how many
	pidfd   int32            // of the fork, for the zygote

	exeMajor, exeMinor uint32 // the file that this process executes
	exeInode           uint64

	all, before uint64     // sets of signals: every one, and what the zygote blocks
	child       uint64     // SIGCHLD alone
	zero        [2]byte    // "0"
	signals     int32      // descriptor that is readable when a child has ended
	command     int32      // process id of the command, 0 without one
	once        bool       // the command is the last
	outcome     jobOutcome // of the last job
	pipe        [2]int32   // for it

	slots  [slots]int32
	polled [2]unix.PollFd
	status int32
	path   [32]byte // begins with "/proc/"
	stat   unix.Statx_t
	info   [128]byte   // of a signal
	vector unix.Iovec  // for header
	header unix.Msghdr // that puts a script's header into the incoming area, and descriptors into rights
	rights [rightsBytes]byte
	report [reportWords]int32
}

// A jobOutcome says why a job's process could not execute its program.
type jobOutcome struct {
	failed uintptr       // the index of the call that failed
	errno  syscall.Errno // 0 if none did
}

const (
	memoryBytes = 20 << 20 // touched only as far as it is used
	maxScript   = 16 << 20 // far above what the kernel takes as arguments and environment
	maxGroups   = 4
	rightsBytes = unix.SizeofCmsghdr + 4*maxRights + 4

	initControl = 3 // the init's descriptor for control
	initFree    = 4 // the first that is not its own from the start

	reportWords = 4

	forkFlags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
		unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
)

// A news is what a report tells, with two numbers. It is the report's first
// word.
type news int32

const (
	isReady     news = 1 + iota // the sandbox is built; its /out comes with it
	isListening                 // the listening socket of the proxy comes with it
	isSettled                   // the setup of a sandbox that is kept is made
	hasStarted                  // the command
	hasExited                   // the command: its code
	hasFailed                   // a script: its kind, the call's index; the errno
	isSelf                      // the command is the init's own file; it was ended
	isRefused                   // entering a cgroup: its index; the errno
)

// fork starts an init, which gets the control socket and the cgroups' files, and
// returns its process id.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) fork() (uintptr, syscall.Errno) {
	var stack byte
	raw4(unix.SYS_MADVISE, uintptr(unsafe.Pointer(&stack))&^(n.page-1)-n.page, 3*n.page, unix.MADV_DOFORK, 0)
	// A signal must not find the fork with Go's handlers.
	raw4(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&n.all)), uintptr(unsafe.Pointer(&n.before)), 8)
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, forkFlags, 0, uintptr(unsafe.Pointer(&n.pidfd)), 0, 0, 0)
	if errno == 0 && pid == 0 {
		n.live()
	}
	raw4(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&n.before)), 0, 8)
	return pid, errno
}

// live is process 1 of a sandbox, from its birth to its end. With it ends every
// other process there. All signals stay blocked, so that nothing in the sandbox
// can do anything to it.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) live() {
	for i := int32(0); i < n.grouped; i++ {
		if _, errno := raw4(unix.SYS_WRITE, uintptr(n.groups[i]), uintptr(unsafe.Pointer(&n.zero)), 1, 0); errno != 0 {
			n.tell(uintptr(n.control), isRefused, i, int32(errno))
		}
	}
	raw4(unix.SYS_DUP3, uintptr(n.control), initControl, unix.O_CLOEXEC, 0)
	raw4(unix.SYS_CLOSE_RANGE, initFree, uintptr(^uint32(0)), 0, 0)
	fd, _ := raw4(unix.SYS_SIGNALFD4, ^uintptr(0), uintptr(unsafe.Pointer(&n.child)), 8, unix.SFD_CLOEXEC|unix.SFD_NONBLOCK)
	n.signals = int32(fd)
	n.setUp(n.generic)
	for {
		n.polled[0].Fd, n.polled[0].Events = initControl, unix.POLLIN
		n.polled[1].Fd, n.polled[1].Events = n.signals, unix.POLLIN
		raw4(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&n.polled)), 2, 0, 0)
		if n.polled[1].Revents != 0 {
			raw4(unix.SYS_READ, uintptr(n.signals), uintptr(unsafe.Pointer(&n.info)), 128, 0)
			n.reap(unix.WNOHANG)
		}
		if n.polled[0].Revents != 0 {
			n.obey()
		}
	}
}

// start makes the incoming script in a new process, which it turns into the
// command. It goes on once that has executed the program, or could not.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) start() {
	n.outcome = jobOutcome{}
	var pid uintptr
	_, errno := raw4(unix.SYS_PIPE2, uintptr(unsafe.Pointer(&n.pipe)), unix.O_CLOEXEC, 0, 0)
	if errno == 0 {
		pid, errno = raw4(unix.SYS_CLONE, unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0, 0)
		if errno == 0 && pid == 0 {
			n.outcome.failed, n.outcome.errno = n.run(n.incoming)
			raw4(unix.SYS_WRITE, uintptr(n.pipe[1]), uintptr(unsafe.Pointer(&n.outcome)), unsafe.Sizeof(n.outcome), 0)
			exit()
		}
	}
	if errno == 0 {
		raw4(unix.SYS_CLOSE, uintptr(n.pipe[1]), 0, 0, 0)
		raw4(unix.SYS_READ, uintptr(n.pipe[0]), uintptr(unsafe.Pointer(&n.outcome)), unsafe.Sizeof(n.outcome), 0) // nothing if it executed
		n.report[3] = int32(n.outcome.failed)
		errno = n.outcome.errno
	}
	// Only the command's own copies may keep its streams open.
	raw4(unix.SYS_CLOSE_RANGE, uintptr(n.signals)+1, uintptr(^uint32(0)), 0, 0)
	switch {
	case errno != 0:
		n.tell(initControl, hasFailed, int32(kindJob), int32(errno))
		n.finish()
	case n.runsThisFile(pid):
		raw4(unix.SYS_KILL, pid, uintptr(unix.SIGKILL), 0, 0)
		n.tell(initControl, isSelf, 0, 0)
		n.finish()
	default:
		n.command = int32(pid)
		n.tell(initControl, hasStarted, 0, 0)
	}
}

// finish ends the sandbox after the last command.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) finish() {
	if n.once {
		exit()
	}
}

// runsThisFile reports whether the process executes the host's file that this
// one does, as a program "/proc/self/exe" would. That file may be the user's
// own, and nothing in the sandbox may have a way to it. A process that has ended
// or is not to be looked into executes another.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) runsThisFile(pid uintptr) bool {
	at := len("/proc/")
	digits := 1
	for rest := pid / 10; rest > 0; rest /= 10 {
		digits++
	}
	for i := at + digits - 1; i >= at; i-- {
		n.path[i] = byte('0' + pid%10)
		pid /= 10
	}
	n.path[at+digits], n.path[at+digits+1], n.path[at+digits+2] = '/', 'e', 'x'
	n.path[at+digits+3], n.path[at+digits+4] = 'e', 0
	_, _, errno := syscall.RawSyscall6(unix.SYS_STATX, ^uintptr(99), uintptr(unsafe.Pointer(&n.path)), 0, unix.STATX_INO, uintptr(unsafe.Pointer(&n.stat)), 0)
	return errno == 0 && n.stat.Ino == n.exeInode && n.stat.Dev_major == n.exeMajor && n.stat.Dev_minor == n.exeMinor
}

// reap takes the ends of all children, most of which are orphans of the command:
// those that have ended, with WNOHANG, and else all there are. It reports the
// command's end after that.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) reap(options uintptr) {
	code, ended := int32(0), false
	for {
		pid, errno := raw4(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&n.status)), options|unix.WALL, 0)
		if errno != 0 || pid == 0 {
			break
		}
		if int32(pid) != n.command {
			continue
		}
		code, ended, n.command = n.status>>8&0xff, true, 0
		if signal := n.status & 0x7f; signal != 0 {
			code = 128 + signal
		}
		if n.once { // nothing is to be left but this process, which ends too
			n.killAll()
			options = 0
		}
	}
	if ended {
		n.tell(initControl, hasExited, code, 0)
		n.finish()
	}
}

// killAll ends every process of the sandbox but this one.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) killAll() { raw4(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL), 0, 0) }

// tell sends a report; its fourth word is set by the caller. Without a server
// nobody minds.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) tell(to uintptr, what news, a, b int32) {
	n.report[0], n.report[1], n.report[2] = int32(what), a, b
	_, _, _ = syscall.RawSyscall6(unix.SYS_SENDTO, to, uintptr(unsafe.Pointer(&n.report)), reportWords*4, unix.MSG_NOSIGNAL, 0, 0)
}

//go:nosplit
//go:norace
func exit() {
	for {
		raw4(unix.SYS_EXIT_GROUP, 0, 0, 0, 0)
	}
}

//go:nosplit
//go:norace
func raw4(number, a, b, c, d uintptr) (uintptr, syscall.Errno) {
	result, _, errno := syscall.RawSyscall6(number, a, b, c, d, 0, 0)
	return result, errno
}
