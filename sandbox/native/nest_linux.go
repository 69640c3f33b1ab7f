//go:build amd64 || arm64

package native

import (
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
	return mapping{uintptr(start), uintptr(end), strings.HasPrefix(fields[1], "rw-p") || strings.HasPrefix(fields[1], "---p"), fields[4] != "0" || fields[len(fields)-1] == "[stack]"}, err == nil
}
