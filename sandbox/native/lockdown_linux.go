//go:build amd64 || arm64

package native

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	maxLockedBytes = 8 << 20 // the kernel's default
	// maxCapability is the highest number that a capability may have in any
	// kernel; those that this one has not are refused.
	maxCapability = 63
)

// lockDown takes every privilege from the init, and so from all that it starts:
// it enters a user namespace of its own that has power over nothing, not even
// over its other namespaces, gives up every capability even there, and installs
// the seccomp filter.
func (s *script) lockDown(h *host, filter []unix.SockFilter) {
	at := func(what string) place { return place{stepSetup, what} }
	s.add(at("make a user namespace"), unix.SYS_UNSHARE, number(unix.CLONE_NEWUSER))
	s.enterUser(h)
	for c := range maxCapability + 1 {
		s.prctl("drop the bounding set", unix.PR_CAPBSET_DROP, uintptr(c)).otherwise = goesOn
	}
	s.prctl("clear the ambient set", unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := make([]byte, 2*unsafe.Sizeof(unix.CapUserData{}))
	s.add(at("drop capabilities"), unix.SYS_CAPSET, s.bytes(asBytes(&header)), s.bytes(none))
	s.prctl("set no_new_privs", unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	program := s.words(number(len(filter)), s.bytes(asBytes(&filter[0], len(filter))))
	s.add(at("install the seccomp filter"), unix.SYS_SECCOMP, number(unix.SECCOMP_SET_MODE_FILTER), number(0), program)
}

// asBytes returns the bytes of count values, one unless said otherwise.
func asBytes[T any](first *T, count ...int) []byte {
	size := int(unsafe.Sizeof(*first))
	for _, n := range count {
		size *= n
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(first)), size)
}

// enterUser makes the init the user it already is in the namespace it has just
// entered, which has no other, and keeps others from being made below it, the
// door to most of the kernel's privileged code. The seccomp filter refuses those
// too; so failing at that is fine.
func (s *script) enterUser(h *host) {
	user := h.user
	// The files belong to root otherwise.
	s.prctl("become dumpable", unix.PR_SET_DUMPABLE, 1)
	s.write("self/setgroups", "deny").otherwise = goesOn // a kernel without it needs none
	s.write("self/uid_map", fmt.Sprintf("%d %d 1", user.uid, user.uid))
	s.write("self/gid_map", fmt.Sprintf("%d %d 1", user.gid, user.gid))
	s.prctl("become undumpable", unix.PR_SET_DUMPABLE, 0)
	s.write("sys/user/max_user_namespaces", "0").otherwise = goesOn
	s.boundNotify(h.notify, notifyShare)
	s.close(slotProc)
}

const (
	// notifyShare and allNotifyShare divide a host user's inotify limits: for one
	// sandbox, and for all of a server's.
	notifyShare    = 8
	allNotifyShare = 2
)

// A notifyLimit is one of a host user's inotify limits.
type notifyLimit struct {
	name string // as /proc/sys/user has it
	most int
}

func notifyLimits() []notifyLimit {
	var all []notifyLimit
	for _, what := range []string{"instances", "watches"} {
		text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_" + what)
		if most, notNumber := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && notNumber == nil {
			all = append(all, notifyLimit{"max_inotify_" + what, most})
		}
	}
	return all
}

// boundNotify limits inotify in the init's user namespace to a share of the host
// user's limits, against which all of it counts.
func (s *script) boundNotify(limits []notifyLimit, share int) {
	for _, l := range limits {
		s.write("sys/user/"+l.name, strconv.Itoa(l.most/share)).otherwise = goesOn
	}
}

// write writes a file below /proc. An otherwise for it may be set in the call
// that is returned; when the file cannot be opened, that fails.
func (s *script) write(path, text string) *call {
	at := place{stepSetup, "write /proc/" + path}
	open := s.add(at, unix.SYS_OPENAT, slotProc.arg(), s.text(path), number(unix.O_WRONLY|unix.O_CLOEXEC))
	open.keep, open.otherwise = slotResult, goesOn
	s.add(at, unix.SYS_WRITE, slotResult.arg(), s.text(text), number(len(text)))
	written := len(s.calls) - 1
	s.close(slotResult)
	return &s.calls[written]
}

// A resourceLimit is one of setrlimit(2).
type resourceLimit struct {
	resource int
	value    uint64
}

// resourceLimits are what every process of a sandbox inherits and none can
// raise. They stand behind the cgroup's limits, and stand in where there is none.
func (b *box) resourceLimits(limits sandbox.Limits) []resourceLimit {
	list := []resourceLimit{
		{unix.RLIMIT_CORE, 0},
		// A file in memory meets the end of that first, which is an error and not
		// a signal.
		{unix.RLIMIT_FSIZE, uint64(max(limits.File, 2*limits.Tmp))},
		{unix.RLIMIT_MEMLOCK, maxLockedBytes},
		{unix.RLIMIT_NOFILE, uint64(limits.Files)},
		{unix.RLIMIT_NICE, 0},
		// These count as the host's user's too.
		{unix.RLIMIT_SIGPENDING, sandbox.MaxSignals},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_RTPRIO, 0},
		// Counted in the sandbox's own user namespace, with the init.
		{unix.RLIMIT_NPROC, uint64(limits.PIDs) + 1},
	}
	if !b.group.boundsMemory() { // of all processes together
		list = append(list, resourceLimit{unix.RLIMIT_DATA, uint64(limits.Memory)})
	}
	return list
}

// limitResources lowers limits; one that is lower already stays.
func (s *script) limitResources(list []resourceLimit) {
	for _, l := range list {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &limit); err == nil {
			limit.Max = min(limit.Max, l.value)
		}
		limit.Cur = limit.Max
		s.add(place{stepSetup, "set a resource limit"}, unix.SYS_PRLIMIT64, number(0), number(l.resource), s.bytes(asBytes(&limit)), number(0))
	}
}
