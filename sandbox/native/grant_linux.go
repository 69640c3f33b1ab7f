//go:build amd64 || arm64

package native

import (
	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// setupSequence returns the calls that apply a command's grant and limits: they
// attach the trees that are sent with them, one for each mount, and lock the init down.
func (h *host) setupSequence(mounts []mount, limits sandbox.Limits, group *cgroup, proxied bool) *sequence {
	s := &sequence{}
	if limits.Tmp != h.tmp {
		resizeTmpfs(s, "/tmp", limits.Tmp)
		resizeTmpfs(s, sandbox.OutDir, limits.Tmp)
		resizeTmpfs(s, "/dev/shm", min(limits.Tmp, shmLimit))
	}
	for i, m := range mounts {
		if m.Target != sandbox.SkillDir && !m.Inside {
			s.folder(m.Target)
		}
		s.attach(purpose{stepMount, m.Source}, slot(i), m.Target)
	}
	if proxied {
		listenForProxy(s)
	}
	seal := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	s.add(purpose{stepSetup, "make the root read-only"}, unix.SYS_MOUNT_SETATTR, here(), s.text("/"), number(0), s.bytes(asBytes(&seal)), number(unix.MOUNT_ATTR_SIZE_VER0))
	s.add(purpose{stepMount, sandbox.SkillDir}, unix.SYS_CHDIR, s.text(sandbox.SkillDir))
	filter := h.filter
	if !group.boundsMemory() {
		filter = h.noShared
	}
	lockDown(s, h.user, h.notify, filter)
	return s
}

// resourceLimits returns the limits that every process of a sandbox inherits and none can
// raise. They back the cgroup's limits, and replace them where there is none. No limit is
// above the server's own.
func (h *host) resourceLimits(limits sandbox.Limits, group *cgroup) []resourceLimit {
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
	if !group.boundsMemory() { // of all processes together
		list = append(list, resourceLimit{unix.RLIMIT_DATA, uint64(limits.Memory)})
	}
	for i, l := range list {
		if own, known := h.ownLimits[l.resource]; known {
			list[i].value = min(l.value, own)
		}
	}
	return list
}
