//go:build amd64 || arm64

package native

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// shmLimit bounds the bytes of /dev/shm, as Docker does.
const shmLimit = 64 << 20

// shortName is the name of the zygote and of its forks in the kernel.
const shortName = "skills-mcp"

// genericSequence returns the calls of an init before there is a command: the
// init has all namespaces but that of users, and a copy of the template's
// mounts, and makes the root that every sandbox has, with scratch folders of
// tmp bytes.
func genericSequence(l *layout, tmp int64, notify []notifyLimit) *sequence {
	s := &sequence{}
	at := func(what string) purpose { return purpose{stepSetup, what} }
	s.add(at("make a cgroup namespace"), unix.SYS_UNSHARE, number(unix.CLONE_NEWCGROUP))
	resetSignals(s)
	s.add(at("take a name"), unix.SYS_PRCTL, number(unix.PR_SET_NAME), s.text(shortName))
	s.add(at("make a session"), unix.SYS_SETSID)
	s.add(at("set the host name"), unix.SYS_SETHOSTNAME, s.text(hostname), number(len(hostname)))
	raiseLoopback(s)

	// The sandbox's own is read-only, so the files by which the init says who it is
	// are reached by the template's.
	s.add(at("open /proc"), unix.SYS_OPENAT, here(), s.text("/proc"), number(unix.O_PATH|unix.O_CLOEXEC)).result = slotProc
	limitInotify(s, notify, allNotifyShare)
	s.tmpfs(newRoot, 1<<20, 0o755)
	moveTemplate(s, l)
	s.tmpfs(newRoot+"/tmp", tmp, 0o1777)
	s.tmpfs(newRoot+sandbox.OutDir, tmp, 0o1777)
	s.tmpfs(newRoot+"/dev/shm", min(tmp, shmLimit), 0o1777)
	mountProc(s, l)
	s.folder(newRoot + sandbox.SkillDir)

	// The template stays, out of sight and out of reach, below the root: to take
	// it away, or to use pivot_root, would cost as much as all else here.
	s.add(at("enter the root"), unix.SYS_CHDIR, s.text(newRoot))
	s.add(at("cover the template"), unix.SYS_MOVE_MOUNT, here(), s.text(newRoot), here(), s.text("/"), number(0))
	s.add(at("enter the root"), unix.SYS_CHROOT, s.text("."))
	s.add(at("enter the root"), unix.SYS_CHDIR, s.text("/"))
	s.add(at("open /out"), unix.SYS_OPENAT, here(), s.text(sandbox.OutDir), number(unix.O_DIRECTORY|unix.O_CLOEXEC)).result = slotResult
	s.sendFile(eventReady, slotResult)
	return s
}

// resetSignals undoes the signal handling of Go and of those who started the
// server: an ignored signal stays ignored over an exec.
func resetSignals(s *sequence) {
	const signals, setBytes = 64, 8
	standard := s.bytes(make([]byte, 32)) // struct sigaction: SIG_DFL
	for signal := 1; signal <= signals; signal++ {
		s.add(purpose{}, unix.SYS_RT_SIGACTION, number(signal), standard, number(0), number(setBytes)).onError = ignoreError
	}
}

// raiseLoopback activates the loopback interface.
func raiseLoopback(s *sequence) {
	var request [40]byte // struct ifreq
	copy(request[:], "lo")
	binary.LittleEndian.PutUint16(request[unix.IFNAMSIZ:], unix.IFF_UP)
	at := purpose{stepSetup, "raise the loopback interface"}
	s.add(at, unix.SYS_SOCKET, number(unix.AF_INET), number(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), number(0)).result = slotResult
	s.add(at, unix.SYS_IOCTL, slotResult.arg(), number(unix.SIOCSIFFLAGS), s.bytes(request[:]))
	s.close(slotResult)
}

// moveTemplate moves the template's mounts and links to the new root: those at
// the top, with all below them.
func moveTemplate(s *sequence, l *layout) {
	inside := func(path string) bool { return sandbox.Within(path, "/etc") || sandbox.Within(path, "/dev") }
	top := []mount{{Target: "/etc"}, {Target: "/dev"}}
	for _, m := range l.Mounts {
		if !inside(m.Target) {
			top = append(top, m)
		}
	}
	for _, m := range top {
		s.folder(newRoot + m.Target)
		c := s.add(purpose{stepMount, m.Target}, unix.SYS_MOVE_MOUNT, here(), s.text(m.Target), here(), s.text(newRoot+m.Target), number(0))
		if m.Optional {
			c.onError = ignoreError
		}
	}
	for _, k := range l.Links {
		if !inside(k.Path) {
			s.folder(newRoot + path.Dir(k.Path))
			s.add(purpose{stepSetup, "link " + k.Path}, unix.SYS_SYMLINKAT, s.text(k.To), here(), s.text(newRoot+k.Path))
		}
	}
}

// mountProc mounts a /proc of the sandbox's processes, with the parts covered
// that describe the machine.
func mountProc(s *sequence, l *layout) {
	const attributes = noPrivileges | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_RDONLY
	s.newMount(purpose{stepProc, ""}, "proc", attributes)
	s.makeFolder(newRoot + "/proc")
	s.attach(purpose{stepProc, ""}, slotResult, newRoot+"/proc")
	for _, m := range l.masks {
		cover := newRoot + "/dev/null"
		if m.folder {
			cover = emptyRoot
		}
		at := purpose{stepSetup, "cover " + m.path}
		s.add(at, unix.SYS_OPEN_TREE, here(), s.text(cover), number(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)).result = slotResult
		s.attach(at, slotResult, newRoot+m.path)
	}
}

// resizeTmpfs changes the bounds of a tmpfs.
func resizeTmpfs(s *sequence, path string, size int64) {
	at := purpose{stepSetup, "set the size of " + path}
	s.add(at, unix.SYS_FSPICK, here(), s.text(path), number(unix.FSPICK_CLOEXEC)).result = slotResult
	for _, o := range tmpfsOptions(size, 0)[:2] {
		s.add(at, unix.SYS_FSCONFIG, slotResult.arg(), number(unix.FSCONFIG_SET_STRING), s.text(o.key), s.text(o.value), number(0))
	}
	s.add(at, unix.SYS_FSCONFIG, slotResult.arg(), number(unix.FSCONFIG_CMD_RECONFIGURE), number(0), number(0), number(0))
	s.close(slotResult)
}

// commandSequence returns the calls of the process that becomes the command.
// Its streams are in the slots.
func commandSequence(argv, env []string, streams [3]slot, limits []resourceLimit) *sequence {
	const usualCalls, usualData = 32, 2 << 10 // which spares growing
	s := &sequence{calls: make([]call, 0, usualCalls), data: make([]byte, 0, usualData)}
	at := func(what string) purpose { return purpose{stepSetup, what} }
	s.add(at("make a session"), unix.SYS_SETSID)
	for fd, stream := range streams {
		s.add(at("set the command's streams"), unix.SYS_DUP3, stream.arg(), number(fd), number(0))
	}
	s.add(at("close_range"), unix.SYS_CLOSE_RANGE, number(3), number(^uint32(0)), number(unix.CLOSE_RANGE_CLOEXEC))
	limitResources(s, limits)
	const setBytes = 8
	s.add(at("unblock signals"), unix.SYS_RT_SIGPROCMASK, number(unix.SIG_SETMASK), s.words(number(0)), number(0), number(setBytes))
	executeProgram(s, argv, env, lookup(env, "PATH"))
	return s
}

// executeProgram finds the program as execvp(3) does, in the folders of
// searched, and executes it.
func executeProgram(s *sequence, argv, env []string, searched string) {
	args, environ := s.strings(argv), s.strings(env)
	if strings.Contains(argv[0], "/") {
		program := s.text(argv[0])
		s.add(purpose{stepExec, argv[0]}, unix.SYS_FACCESSAT, here(), program, number(unix.F_OK))
		s.add(purpose{stepInterpreter, argv[0]}, unix.SYS_EXECVE, program, args, environ)
		return
	}
	for _, folder := range strings.Split(searched, ":") {
		folder = cmp.Or(folder, ".")
		program := s.text(folder + "/" + argv[0])
		s.add(purpose{stepFind, argv[0]}, unix.SYS_FACCESSAT, here(), program, number(unix.X_OK)).onError = skipNext
		s.add(purpose{stepInterpreter, argv[0]}, unix.SYS_EXECVE, program, args, environ).onError = continueSearch
	}
	s.add(purpose{stepFind, argv[0]}, failNotFound)
}

func lookup(env []string, key string) string {
	for _, entry := range env {
		if k, v, _ := strings.Cut(entry, "="); k == key {
			return v
		}
	}
	return ""
}

const (
	maxLockedBytes = 8 << 20 // the kernel's default
	// maxCapability is the highest number that a capability may have in any
	// kernel; those that this one has not are refused.
	maxCapability = 63
)

// lockDown drops every privilege of the init, and so of all its children: it
// enters a user namespace of its own that has power over nothing, not even over
// its other namespaces, gives up every capability even there, and installs the
// seccomp filter.
func lockDown(s *sequence, user identity, notify []notifyLimit, filter []unix.SockFilter) {
	at := func(what string) purpose { return purpose{stepSetup, what} }
	s.add(at("make a user namespace"), unix.SYS_UNSHARE, number(unix.CLONE_NEWUSER))
	enterUserNamespace(s, user, notify)
	for c := range maxCapability + 1 {
		s.prctl("drop the bounding set", unix.PR_CAPBSET_DROP, uintptr(c)).onError = ignoreError
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

// enterUserNamespace maps the init's user in the namespace that it has just
// entered, which has no other, and forbids namespaces below it, the door to
// most of the kernel's privileged code. The seccomp filter refuses those too,
// so a failure of that is ignored.
func enterUserNamespace(s *sequence, user identity, notify []notifyLimit) {
	// The files belong to root otherwise.
	s.prctl("become dumpable", unix.PR_SET_DUMPABLE, 1)
	writeProc(s, "self/setgroups", "deny").onError = ignoreError // a kernel without it needs none
	writeProc(s, "self/uid_map", fmt.Sprintf("%d %d 1", user.uid, user.uid))
	writeProc(s, "self/gid_map", fmt.Sprintf("%d %d 1", user.gid, user.gid))
	s.prctl("become undumpable", unix.PR_SET_DUMPABLE, 0)
	writeProc(s, "sys/user/max_user_namespaces", "0").onError = ignoreError
	limitInotify(s, notify, notifyShare)
	s.close(slotProc)
}

// limitInotify limits inotify in the init's user namespace to a share of the
// host user's limits, against which all of it counts.
func limitInotify(s *sequence, limits []notifyLimit, share int) {
	for _, l := range limits {
		writeProc(s, "sys/user/"+l.name, strconv.Itoa(l.most/share)).onError = ignoreError
	}
}

// writeProc writes a file below /proc. The write that it returns fails, too,
// when the file cannot be opened.
func writeProc(s *sequence, path, text string) *call {
	at := purpose{stepSetup, "write /proc/" + path}
	open := s.add(at, unix.SYS_OPENAT, slotProc.arg(), s.text(path), number(unix.O_WRONLY|unix.O_CLOEXEC))
	open.result, open.onError = slotResult, ignoreError
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

// limitResources sets limits.
func limitResources(s *sequence, list []resourceLimit) {
	for _, l := range list {
		limit := syscall.Rlimit{Cur: l.value, Max: l.value}
		s.add(purpose{stepSetup, "set a resource limit"}, unix.SYS_PRLIMIT64, number(0), number(l.resource), s.bytes(asBytes(&limit)), number(0))
	}
}

// listenForProxy makes the proxy's socket and sends it to the server.
func listenForProxy(s *sequence) {
	at := purpose{stepSetup, "make the proxy's socket"}
	to := netip.MustParseAddrPort(egress.Address)
	address := unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: to.Addr().As4()}
	address.Port = to.Port()<<8 | to.Port()>>8 // in network order
	s.add(at, unix.SYS_SOCKET, number(unix.AF_INET), number(unix.SOCK_STREAM|unix.SOCK_CLOEXEC), number(0)).result = slotResult
	s.add(at, unix.SYS_BIND, slotResult.arg(), s.bytes(asBytes(&address)), number(unix.SizeofSockaddrInet4))
	s.add(at, unix.SYS_LISTEN, slotResult.arg(), number(unix.SOMAXCONN))
	s.sendFile(eventListening, slotResult)
}
