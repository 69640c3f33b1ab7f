//go:build amd64 || arm64

package native

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newInitProcess returns an init process whose forks begin with a sequence.
func newInitProcess(generic []byte) (*initProcess, error) {
	memory, err := unix.Mmap(-1, 0, memoryBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fail(stepSetup, "map memory", err)
	}
	if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil && err != unix.EINVAL {
		return nil, fail(stepSetup, "map memory", err)
	}
	n := (*initProcess)(unsafe.Pointer(&memory[0]))
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

// keepHeap excludes Go's memory from the forks, except the program's own
// variables, the calling thread's memory and, at each fork, the stack.
//
// To copy all of it at each fork, and to free it, takes 0.8 to 1.0 ms of
// processor time of a call's 3.5 to 4.4 ms, all processes counted, and a
// waiting init would map 1.2 MB instead of 0.16 MB (Go 1.26, amd64; measured in
// turns of 200 calls).
func (n *initProcess) keepHeap() error {
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
	return mapping{uintptr(start), uintptr(end), strings.HasPrefix(fields[1], "rw-p") || strings.HasPrefix(fields[1], "---p"), fields[4] != "0" || fields[len(fields)-1] == "[stack]"}, err == nil
}

// From here on, functions with directives run in forks of a Go program that
// execute nothing: the inits. Go's runtime does not work in them, as they have none
// of its other threads. They are restricted as the standard library is between
// fork and exec: no allocation, no growth of the stack, no function that may do
// either. Of the directives, "nosplit" ensures that; the others exclude
// instrumentation of tests.
//
// It earns 4 to 6 ms for each init, and each call uses one up, where a call takes
// 2 to 3 ms: an init is ready after 1.1 to 1.4 ms, and one that is this program,
// executed again in new namespaces by os/exec, after 5.4 to 7.3 ms. BenchmarkInit
// measures both in turns. It is proven with Go 1.26 on amd64, by the tests of this
// package; for arm64 it is only compiled.

// An initProcess is the state that the zygote prepares for its forks, and each
// fork's own state after the fork. It lies in memory of its own, outside of
// Go's heap, of which the forks have nothing: to copy and free memory that is
// not needed would be most of an init's cost.
type initProcess struct {
	memory   unsafe.Pointer // memoryBytes, mapped: the areas below, and this
	room     uintptr        // bytes for an incoming sequence
	generic  uintptr        // offset of the first sequence in memory
	incoming uintptr        // offset of received sequences
	page     uintptr        // bytes

	control int32            // the socket to the server
	groups  [maxGroups]int32 // files to write "0" to, to enter a cgroup
	grouped int32            // how many
	pidfd   int32            // of the fork, for the zygote

	exeMajor, exeMinor uint32 // the file that this process executes
	exeInode           uint64

	all, before uint64         // sets of signals: every one, and those that the zygote blocks
	child       uint64         // SIGCHLD alone
	zero        [2]byte        // "0"
	signals     int32          // descriptor that is readable when a child has ended
	command     int32          // process id of the command, 0 without one
	once        bool           // the command is the last
	outcome     commandOutcome // of the last job

	slots  [slots]int32
	polled [2]unix.PollFd
	status int32
	path   [32]byte // begins with "/proc/"
	stat   unix.Statx_t
	info   [128]byte   // of a signal
	vector unix.Iovec  // for header
	header unix.Msghdr // to receive a sequence's header into the incoming area, and descriptors into rights
	rights [rightsBytes]byte
	report [reportWords]int32
}

// A commandOutcome says why a job's process could not execute its program.
type commandOutcome struct {
	failed uintptr       // the index of the call that failed
	errno  syscall.Errno // 0 if none did
}

const (
	memoryBytes = 20 << 20 // touched only as far as it is used
	maxSequence = 16 << 20 // far above the kernel's limit for arguments and environment
	maxGroups   = 4

	forkFlags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
		unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
)

// fork starts an init, which gets the control socket and the cgroups' files, and
// returns its process id.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) fork() (uintptr, syscall.Errno) {
	var stack byte
	raw4(unix.SYS_MADVISE, uintptr(unsafe.Pointer(&stack))&^(n.page-1)-n.page, 3*n.page, unix.MADV_DOFORK, 0)
	// A signal must not find the fork with Go's handlers.
	raw4(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&n.all)), uintptr(unsafe.Pointer(&n.before)), 8)
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, forkFlags, 0, uintptr(unsafe.Pointer(&n.pidfd)), 0, 0, 0)
	if errno == 0 && pid == 0 {
		n.serve()
	}
	raw4(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&n.before)), 0, 8)
	return pid, errno
}

// serve is process 1 of a sandbox, from its start to its end, which ends every
// other process there. All signals stay blocked, so that nothing in the sandbox
// can affect it.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) serve() {
	for i := int32(0); i < n.grouped; i++ {
		if _, errno := raw4(unix.SYS_WRITE, uintptr(n.groups[i]), uintptr(unsafe.Pointer(&n.zero)), 1, 0); errno != 0 {
			n.sendReport(uintptr(n.control), eventCgroupRefused, i, int32(errno))
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
			n.handleSequence()
		}
	}
}

// startCommand makes the incoming sequence in a new process, which becomes the
// command. It returns when that process has executed the program or failed: then the
// outcome, in memory that both share until then, has the reason.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) startCommand() {
	n.outcome = commandOutcome{}
	pid, errno := n.vfork()
	if errno == 0 {
		n.report[3], errno = int32(n.outcome.failed), n.outcome.errno
	}
	// Only the command's own copies may keep its streams open.
	raw4(unix.SYS_CLOSE_RANGE, uintptr(n.signals)+1, uintptr(^uint32(0)), 0, 0)
	switch {
	case errno != 0:
		n.sendReport(initControl, eventFailed, int32(kindCommand), int32(errno))
		n.exitIfLast()
	case n.runsThisFile(pid):
		raw4(unix.SYS_KILL, pid, uintptr(unix.SIGKILL), 0, 0)
		n.sendReport(initControl, eventExecutedInit, 0, 0)
		n.exitIfLast()
	default:
		n.command = int32(pid)
		n.sendReport(initControl, eventStarted, 0, 0)
	}
}

// vfork starts the process of a command and waits until it has executed the program or
// ended. The process uses this one's memory and stack until then: it must stay in this
// frame and the calls from it, and this process must return from the frame at once.
//
// To copy the memory instead, which is only page tables, takes the kernel 0.2 ms of the
// 1.7 that a call had in the kernel before its program began.
//
//go:noinline
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) vfork() (pid uintptr, errno syscall.Errno) {
	result := rawVfork(unix.CLONE_VM | unix.CLONE_VFORK | uintptr(unix.SIGCHLD))
	if result > ^uintptr(maxErrno) {
		return 0, syscall.Errno(-result)
	}
	if result != 0 {
		return result, 0
	}
	n.outcome.failed, n.outcome.errno = n.run(n.incoming)
	exit()
	return 0, 0
}

// maxErrno is the largest error number of a system call.
const maxErrno = 4095

// rawVfork is clone(2) with flags that let the child use the caller's stack.
func rawVfork(flags uintptr) (result uintptr)

// exitIfLast ends the sandbox after the last command.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) exitIfLast() {
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
func (n *initProcess) runsThisFile(pid uintptr) bool {
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

// reap waits for children, most of which are orphans of the command: with
// WNOHANG those that have ended, and otherwise all. It then reports the
// command's end.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) reap(options uintptr) {
	code, ended := int32(0), false
	for {
		pid, errno := raw4(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&n.status)), options|unix.WALL, 0)
		if errno != 0 { // no child, and so no other process in the sandbox
			break
		}
		if pid == 0 {
			if !ended || !n.once {
				break
			}
			n.killAll() // nothing is to be left but this process
			options = 0
			continue
		}
		if int32(pid) != n.command {
			continue
		}
		code, ended, n.command = n.status>>8&0xff, true, 0
		if signal := n.status & 0x7f; signal != 0 {
			code = 128 + signal
		}
	}
	if ended {
		// After its last command the init stays until the server closes the socket:
		// the end of its namespaces takes the kernel 0.3 to 0.5 ms, on the processor
		// that the report has just woken the server on.
		n.sendReport(initControl, eventExited, code, 0)
	}
}

// killAll ends every process of the sandbox but this one.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) killAll() { raw4(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL), 0, 0) }

// sendReport sends a report; the caller sets its fourth word. It ignores a
// server that has gone.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) sendReport(to uintptr, what event, a, b int32) {
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

// handleSequence receives one sequence and executes it by its kind.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) handleSequence() {
	n.receive()
	switch kind(*n.word(n.incoming)) {
	case kindSetup:
		n.setUp(n.incoming)
	case kindCommand:
		n.startCommand()
	case kindLastCommand:
		n.once = true
		n.startCommand()
	case kindKillAll:
		n.killAll()
		n.reap(0)
	}
}

//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) setUp(at uintptr) {
	if failed, errno := n.run(at); errno != 0 {
		n.report[3] = int32(failed)
		n.sendReport(initControl, eventFailed, int32(*n.word(at)), int32(errno))
		exit()
	}
}

// receive reads a sequence into the incoming area, and its descriptors into the
// slots. Without the server the init exits.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) receive() {
	n.header.Controllen = rightsBytes
	got, errno := raw4(unix.SYS_RECVMSG, initControl, uintptr(unsafe.Pointer(&n.header)), unix.MSG_CMSG_CLOEXEC|unix.MSG_WAITALL, 0)
	if errno != 0 || got != headerWords*wordBytes {
		exit()
	}
	if n.header.Controllen >= unix.SizeofCmsghdr {
		head := (*unix.Cmsghdr)(unsafe.Pointer(&n.rights))
		count := (uintptr(head.Len) - unix.SizeofCmsghdr) / 4
		for i := uintptr(0); i < count && i < maxRights; i++ {
			n.slots[i] = *(*int32)(unsafe.Add(unsafe.Pointer(&n.rights), unix.SizeofCmsghdr+4*i))
		}
	}
	at := n.incoming
	rest := uintptr(wordBytes*(callWords**n.word(at + 8)+*n.word(at + 16)) + *n.word(at + 24))
	if rest > n.room {
		exit()
	}
	for at += headerWords * wordBytes; rest > 0; {
		got, errno := raw4(unix.SYS_READ, initControl, uintptr(n.memory)+at, rest, 0)
		if errno != 0 || got == 0 {
			exit()
		}
		at, rest = at+got, rest-got
	}
}

// run makes the calls of the sequence at an offset in memory. On failure it
// returns the index of the call, and its errno.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) run(at uintptr) (failed uintptr, errno syscall.Errno) {
	calls, pointers := uintptr(*n.word(at + 8)), uintptr(*n.word(at + 16))
	at += headerWords * wordBytes
	list := at + calls*callWords*wordBytes
	data := list + pointers*wordBytes
	for i := uintptr(0); i < pointers; i++ {
		*n.word(data + uintptr(*n.word(list + i*wordBytes))) += uint64(uintptr(n.memory) + data)
	}
	denied := false
	for i := uintptr(0); i < calls; i++ {
		c := at + i*callWords*wordBytes
		if *n.word(c) == failNotFound {
			if denied {
				return i, unix.EACCES
			}
			return i, unix.ENOENT
		}
		result, _, errno := syscall.RawSyscall6(uintptr(*n.word(c)), n.arg(c, 0, data), n.arg(c, 1, data),
			n.arg(c, 2, data), n.arg(c, 3, data), n.arg(c, 4, data), n.arg(c, 5, data))
		if errno == 0 {
			n.slots[*n.word(c + 16)] = int32(result)
			continue
		}
		n.slots[*n.word(c + 16)] = -1
		switch onError(*n.word(c + 8) & 0xff) {
		case ignoreError:
		case skipNext:
			i++
			denied = denied || errno == unix.EACCES
		case continueSearch:
			if errno != unix.EACCES {
				return i, errno
			}
			denied = true
		default:
			return i, errno
		}
	}
	return 0, 0
}

// arg returns an argument of the call at c, in a sequence whose data is at
// data.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) arg(c, index, data uintptr) uintptr {
	value := uintptr(*n.word(c + 24 + index*wordBytes))
	switch argKind(*n.word(c + 8) >> (8 + kindBits*index) & (1<<kindBits - 1)) {
	case isOffset:
		return uintptr(n.memory) + data + value
	case isSlot:
		return uintptr(n.slots[value])
	}
	return value
}

//go:nosplit
//go:norace
//go:nocheckptr
func (n *initProcess) word(at uintptr) *uint64 { return (*uint64)(unsafe.Add(n.memory, at)) }
