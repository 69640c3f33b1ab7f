//go:build amd64 || arm64

package native

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	maxFileBytes   = 4 << 30 // of one file: a writable workspace is the host's disk
	maxLockedBytes = 8 << 20 // the kernel's default
)

// limitResources sets what every process of the sandbox inherits and none can
// raise. They stand behind the cgroup's limits, and stand in where there is
// none.
func limitResources(s *setup) error {
	limits := []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, maxFileBytes},
		{unix.RLIMIT_MEMLOCK, maxLockedBytes},
		{unix.RLIMIT_NOFILE, uint64(s.OpenFiles)},
		{unix.RLIMIT_NICE, 0},
		{unix.RLIMIT_RTPRIO, 0},
		// Counted in this user namespace, threads of this process included.
		{unix.RLIMIT_NPROC, uint64(s.PIDs) + threads()},
	}
	if s.Data > 0 {
		limits = append(limits, struct {
			resource int
			value    uint64
		}{unix.RLIMIT_DATA, uint64(s.Data)})
	}
	for _, l := range limits {
		if err := limitResource(l.resource, l.value); err != nil {
			return fail(stepSetup, "set a resource limit", err)
		}
	}
	return nil
}

// limitResource lowers a limit to value; where it is lower already it stays.
func limitResource(resource int, value uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(resource, &limit); err != nil {
		return err
	}
	limit.Max = min(limit.Max, value)
	limit.Cur = limit.Max
	return syscall.Setrlimit(resource, &limit)
}

// threads returns how many this process has.
func threads() uint64 {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 8 // about what Go starts
	}
	return uint64(len(entries))
}

// lockDown gives up every capability for good and installs the seccomp filter.
// The thread that calls it is the one that starts the command.
func lockDown() error {
	for c := uintptr(0); ; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // past the last
		} else if err != nil {
			return fail(stepSetup, "drop the bounding set", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fail(stepSetup, "clear the ambient set", err)
	}
	if err := dropCapabilities(); err != nil {
		return fail(stepSetup, "drop capabilities", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fail(stepSetup, "set no_new_privs", err)
	}
	return fail(stepSetup, "install the seccomp filter", installFilter())
}

// dropCapabilities empties the sets of every thread. A program built with cgo,
// as race tests are, cannot reach the threads of Go's runtime: there they keep
// capabilities over the sandbox, never used, in a process that no other may look
// into.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET,
		uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0)
	if errno == syscall.ENOTSUP {
		return unix.Capset(&header, &none[0])
	}
	if errno != 0 {
		return errno
	}
	return nil
}
