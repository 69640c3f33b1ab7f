//go:build amd64 || arm64

package native

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An identity is whom commands run as.
type identity struct {
	uid, gid         int  // in the sandbox
	hostUID, hostGID int  // the same user, on the host
	changes          bool // the zygote must change to it, which only root may
}

// whoAmI returns nobody for root, and the person otherwise. Root of a user
// namespace that has no nobody is such a person too.
func whoAmI() (identity, error) {
	uid, gid := sandbox.User()
	own := identity{uid: uid, gid: gid, hostUID: os.Geteuid(), hostGID: os.Getegid()}
	if os.Geteuid() != 0 {
		return own, nil
	}
	for _, name := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		ids, err := os.ReadFile(name)
		if err != nil {
			return own, fmt.Errorf("read own user namespace: %w", err)
		}
		if !mapsID(string(ids), sandbox.Nobody) {
			return own, nil
		}
	}
	return identity{uid: uid, gid: gid, hostUID: uid, hostGID: gid, changes: true}, nil
}

// mapsID reports whether a map of user_namespaces(7) has id.
func mapsID(ids string, id int) bool {
	for line := range strings.Lines(ids) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err != nil {
			continue
		}
		if inside <= id && id-inside < count {
			return true
		}
	}
	return false
}

// mappings returns the namespace's only user and group.
func (i identity) mappings() (uids, gids []syscall.SysProcIDMap) {
	return []syscall.SysProcIDMap{{ContainerID: i.uid, HostID: i.hostUID, Size: 1}},
		[]syscall.SysProcIDMap{{ContainerID: i.gid, HostID: i.hostGID, Size: 1}}
}

// A program is the file that is executed as the zygote: this one.
type program struct {
	path string
	file *os.File // keeps path alive; may be nil
}

// findProgram returns the running executable, or a copy in memory where the
// zygote's user is not allowed to execute it, as after "umask 077; go install" by
// root.
func findProgram(user identity) (*program, error) {
	const self = "/proc/self/exe"
	info, err := os.Stat(self)
	if err != nil {
		return nil, fmt.Errorf("find own executable: %w", err)
	}
	if !user.changes || info.Mode().Perm()&0o001 != 0 {
		return &program{path: self}, nil
	}
	return copyProgram(self)
}

// copyProgram returns an executable copy in memory.
func copyProgram(path string) (*program, error) {
	fd, err := unix.MemfdCreate("skills-mcp", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("copy own executable: %w", err)
	}
	memory := os.NewFile(uintptr(fd), "skills-mcp")
	if err := copyExecutable(memory, path); err != nil {
		_ = memory.Close()
		return nil, fmt.Errorf("copy own executable: %w", err)
	}
	return &program{path: fmt.Sprintf("/proc/self/fd/%d", fd), file: memory}, nil
}

func copyExecutable(to *os.File, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if _, err := to.ReadFrom(source); err != nil {
		return err
	}
	return to.Chmod(0o555)
}

func (p *program) close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
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

// ownLimits returns the server's own hard limits. They are read once: the processes of
// sandboxes have those of the zygote's start.
func ownLimits() map[int]uint64 {
	own := map[int]uint64{}
	for _, resource := range []int{unix.RLIMIT_CORE, unix.RLIMIT_FSIZE, unix.RLIMIT_MEMLOCK, unix.RLIMIT_NOFILE, unix.RLIMIT_NICE,
		unix.RLIMIT_SIGPENDING, unix.RLIMIT_MSGQUEUE, unix.RLIMIT_RTPRIO, unix.RLIMIT_NPROC, unix.RLIMIT_DATA} {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(resource, &limit); err == nil {
			own[resource] = limit.Max
		}
	}
	return own
}
