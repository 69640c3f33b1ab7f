//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"path"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	hostname = "sandbox"
	shmLimit = 64 << 20 // as Docker's

	// handover is the descriptor that a script gives a file to send it.
	handover = 200
)

// genericScript is what an init does before there is a command: it has all
// namespaces but that of users, and a copy of the template's mounts, and makes
// the root that every sandbox has, with scratch folders of tmp bytes.
func genericScript(l *layout, tmp int64, notify []notifyLimit) *script {
	s := &script{}
	at := func(what string) place { return place{stepSetup, what} }
	s.add(at("make a cgroup namespace"), unix.SYS_UNSHARE, number(unix.CLONE_NEWCGROUP))
	s.defaultSignals()
	s.add(at("take a name"), unix.SYS_PRCTL, number(unix.PR_SET_NAME), s.text(shortName))
	s.add(at("make a session"), unix.SYS_SETSID)
	s.add(at("set the host name"), unix.SYS_SETHOSTNAME, s.text(hostname), number(len(hostname)))
	s.raiseLoopback()

	// The sandbox's own is read-only, so the files by which the init says who it is
	// are reached by the template's.
	s.add(at("open /proc"), unix.SYS_OPENAT, here(), s.text("/proc"), number(unix.O_PATH|unix.O_CLOEXEC)).keep = slotProc
	s.boundNotify(notify, allNotifyShare)
	s.tmpfs(newRoot, 1<<20, 0o755)
	s.shareTemplate(l)
	s.tmpfs(newRoot+"/tmp", tmp, 0o1777)
	s.tmpfs(newRoot+sandbox.OutDir, tmp, 0o1777)
	s.tmpfs(newRoot+"/dev/shm", min(tmp, shmLimit), 0o1777)
	s.ownProc(l)
	s.folder(newRoot + sandbox.SkillDir)

	// The template stays, out of sight and out of reach, below the root: to take
	// it away, or to use pivot_root, would cost as much as all else here.
	s.add(at("enter the root"), unix.SYS_CHDIR, s.text(newRoot))
	s.add(at("cover the template"), unix.SYS_MOVE_MOUNT, here(), s.text(newRoot), here(), s.text("/"), number(0))
	s.add(at("enter the root"), unix.SYS_CHROOT, s.text("."))
	s.add(at("enter the root"), unix.SYS_CHDIR, s.text("/"))
	s.add(at("open /out"), unix.SYS_OPENAT, here(), s.text(sandbox.OutDir), number(unix.O_DIRECTORY|unix.O_CLOEXEC)).keep = slotResult
	s.report(isReady, slotResult)
	return s
}

// defaultSignals takes back what Go and those who started the server did about
// signals: what is ignored stays so over an exec.
func (s *script) defaultSignals() {
	const signals, setBytes = 64, 8
	standard := s.bytes(make([]byte, 32)) // struct sigaction: SIG_DFL
	for signal := 1; signal <= signals; signal++ {
		s.add(place{}, unix.SYS_RT_SIGACTION, number(signal), standard, number(0), number(setBytes)).otherwise = goesOn
	}
}

func (s *script) prctl(what string, option int, args ...uintptr) *call {
	words := []arg{number(option)}
	for _, a := range args {
		words = append(words, number(a))
	}
	return s.add(place{stepSetup, what}, unix.SYS_PRCTL, words...)
}

func (s *script) raiseLoopback() {
	var request [40]byte // struct ifreq
	copy(request[:], "lo")
	binary.LittleEndian.PutUint16(request[unix.IFNAMSIZ:], unix.IFF_UP)
	at := place{stepSetup, "raise the loopback interface"}
	s.add(at, unix.SYS_SOCKET, number(unix.AF_INET), number(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), number(0)).keep = slotResult
	s.add(at, unix.SYS_IOCTL, slotResult.arg(), number(unix.SIOCSIFFLAGS), s.bytes(request[:]))
	s.close(slotResult)
}

func (s *script) close(fd slot) { s.add(place{}, unix.SYS_CLOSE, fd.arg()).otherwise = goesOn }

// folder makes a folder, and those above it, where there is none.
func (s *script) folder(path string) {
	for i, c := range path[1:] {
		if c == '/' {
			s.makeFolder(path[:i+1])
		}
	}
	s.makeFolder(path)
}

// makeFolder makes one folder. That it is there, or cannot be made, shows in what
// is done with it.
func (s *script) makeFolder(path string) {
	s.add(place{}, unix.SYS_MKDIRAT, here(), s.text(path), number(0o755)).otherwise = goesOn
}

// tmpfs mounts one at a folder that it makes.
func (s *script) tmpfs(path string, size int64, mode int) {
	at := place{stepSetup, "make " + strings.TrimPrefix(path, newRoot)}
	s.newMount(at, "tmpfs", noPrivileges, tmpfsOptions(size, mode)...)
	s.folder(path)
	s.attach(at, slotResult, path)
}

// newMount makes a detached mount of a new file system.
func (s *script) newMount(at place, kind string, attributes int, options ...option) {
	fs := slotContext
	s.add(at, unix.SYS_FSOPEN, s.text(kind), number(unix.FSOPEN_CLOEXEC)).keep = fs
	for _, o := range options {
		s.add(at, unix.SYS_FSCONFIG, fs.arg(), number(unix.FSCONFIG_SET_STRING), s.text(o.key), s.text(o.value), number(0))
	}
	s.add(at, unix.SYS_FSCONFIG, fs.arg(), number(unix.FSCONFIG_CMD_CREATE), number(0), number(0), number(0))
	s.add(at, unix.SYS_FSMOUNT, fs.arg(), number(unix.FSMOUNT_CLOEXEC), number(attributes)).keep = slotResult
	s.close(fs)
}

// attach puts a detached mount at a path and closes it.
func (s *script) attach(at place, tree slot, path string) {
	s.add(at, unix.SYS_MOVE_MOUNT, tree.arg(), s.text(""), here(), s.text(path), number(unix.MOVE_MOUNT_F_EMPTY_PATH))
	s.close(tree)
}

// shareTemplate moves what the template has into the new root: the mounts and
// links at the top, with what is below them.
func (s *script) shareTemplate(l *layout) {
	inside := func(path string) bool { return within(path, "/etc") || within(path, "/dev") }
	top := []mount{{Target: "/etc"}, {Target: "/dev"}}
	for _, m := range l.Mounts {
		if !inside(m.Target) {
			top = append(top, m)
		}
	}
	for _, m := range top {
		s.folder(newRoot + m.Target)
		c := s.add(place{stepMount, m.Target}, unix.SYS_MOVE_MOUNT, here(), s.text(m.Target), here(), s.text(newRoot+m.Target), number(0))
		if m.Optional {
			c.otherwise = goesOn
		}
	}
	for _, k := range l.Links {
		if !inside(k.Path) {
			s.folder(newRoot + path.Dir(k.Path))
			s.add(place{stepSetup, "link " + k.Path}, unix.SYS_SYMLINKAT, s.text(k.To), here(), s.text(newRoot+k.Path))
		}
	}
}

// ownProc mounts a /proc of the sandbox's processes, with the parts covered that
// are about the machine.
func (s *script) ownProc(l *layout) {
	const attributes = noPrivileges | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_RDONLY
	s.newMount(place{stepProc, ""}, "proc", attributes)
	s.makeFolder(newRoot + "/proc")
	s.attach(place{stepProc, ""}, slotResult, newRoot+"/proc")
	for _, m := range l.masks {
		cover := newRoot + "/dev/null"
		if m.folder {
			cover = emptyRoot
		}
		at := place{stepSetup, "cover " + m.path}
		s.add(at, unix.SYS_OPEN_TREE, here(), s.text(cover), number(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)).keep = slotResult
		s.attach(at, slotResult, newRoot+m.path)
	}
}

// tell sends the server a report.
func (s *script) tell(what news) {
	words := encodeReport(what)
	s.add(place{stepControl, ""}, unix.SYS_SENDTO, number(initControl), s.bytes(words), number(len(words)), number(unix.MSG_NOSIGNAL), number(0), number(0))
}

// report sends the server a report with a descriptor, which it closes.
func (s *script) report(what news, fd slot) {
	at := place{stepControl, ""}
	s.add(at, unix.SYS_DUP3, fd.arg(), number(handover), number(unix.O_CLOEXEC))
	s.close(fd)
	words := encodeReport(what)
	vector := s.words(s.bytes(words), number(len(words)))
	rights := unix.UnixRights(handover)
	header := s.words(number(0), number(0), vector, number(1), s.bytes(rights), number(len(rights)), number(0))
	s.add(at, unix.SYS_SENDMSG, number(initControl), header, number(unix.MSG_NOSIGNAL))
	s.add(at, unix.SYS_CLOSE, number(handover))
}

func encodeReport(what news) []byte {
	words := make([]byte, 4*reportWords)
	binary.LittleEndian.PutUint32(words, uint32(what))
	return words
}

// sizeOfHeader fails to compile where report's header is not struct msghdr.
const _ = uint(7*wordBytes-unsafe.Sizeof(unix.Msghdr{})) + uint(unsafe.Sizeof(unix.Msghdr{})-7*wordBytes)
