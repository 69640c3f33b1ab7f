//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxTrees is how many open trees go with a script.
const maxTrees = 200

// setupScript is what an init does when it knows the command's grant and limits:
// it attaches the trees that come with the script, and locks itself down.
func (h *host) setupScript(g *ground, group *cgroup) *script {
	s, limits := &script{}, g.limits
	if limits.Tmp != h.tmp {
		s.resize("/tmp", limits.Tmp)
		s.resize(sandbox.OutDir, limits.Tmp)
		s.resize("/dev/shm", min(limits.Tmp, shmLimit))
	}
	for i, m := range g.mounts {
		if m.Target != sandbox.SkillDir {
			s.folder(m.Target)
		}
		s.attach(place{stepMount, m.Source}, slot(i), m.Target)
	}
	if g.gateway != nil {
		s.listen()
	}
	seal := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	s.add(place{stepSetup, "make the root read-only"}, unix.SYS_MOUNT_SETATTR, here(), s.text("/"), number(0), s.bytes(asBytes(&seal)), number(unix.MOUNT_ATTR_SIZE_VER0))
	s.add(place{stepMount, sandbox.SkillDir}, unix.SYS_CHDIR, s.text(sandbox.SkillDir))
	filter := h.filter
	if !group.boundsMemory() {
		filter = h.noShared
	}
	s.lockDown(h, filter)
	return s
}

// resize gives a tmpfs other bounds.
func (s *script) resize(path string, size int64) {
	at := place{stepSetup, "set the size of " + path}
	s.add(at, unix.SYS_FSPICK, here(), s.text(path), number(unix.FSPICK_CLOEXEC)).keep = slotResult
	for _, o := range tmpfsOptions(size, 0)[:2] {
		s.add(at, unix.SYS_FSCONFIG, slotResult.arg(), number(unix.FSCONFIG_SET_STRING), s.text(o.key), s.text(o.value), number(0))
	}
	s.add(at, unix.SYS_FSCONFIG, slotResult.arg(), number(unix.FSCONFIG_CMD_RECONFIGURE), number(0), number(0), number(0))
	s.close(slotResult)
}

// jobScript is what the process does that becomes the command. Its streams are
// in the slots from the first on.
func jobScript(argv, env []string, first slot, limits []resourceLimit) *script {
	s := &script{}
	at := func(what string) place { return place{stepSetup, what} }
	s.add(at("make a session"), unix.SYS_SETSID)
	for fd := range 3 {
		s.add(at("set the command's streams"), unix.SYS_DUP3, (first + slot(fd)).arg(), number(fd), number(0))
	}
	s.add(at("close_range"), unix.SYS_CLOSE_RANGE, number(3), number(^uint32(0)), number(unix.CLOSE_RANGE_CLOEXEC))
	s.limitResources(limits)
	const setBytes = 8
	s.add(at("unblock signals"), unix.SYS_RT_SIGPROCMASK, number(unix.SIG_SETMASK), s.words(number(0)), number(0), number(setBytes))
	s.execute(argv, env, lookup(env, "PATH"))
	return s
}

// execute looks the program up as execvp(3) does, in the folders of searched.
func (s *script) execute(argv, env []string, searched string) {
	args, environ := s.strings(argv), s.strings(env)
	if strings.Contains(argv[0], "/") {
		program := s.text(argv[0])
		s.add(place{stepExec, argv[0]}, unix.SYS_FACCESSAT, here(), program, number(unix.F_OK))
		s.add(place{stepInterpreter, argv[0]}, unix.SYS_EXECVE, program, args, environ)
		return
	}
	for _, folder := range strings.Split(searched, ":") {
		if folder == "" {
			folder = "."
		}
		program := s.text(folder + "/" + argv[0])
		s.add(place{stepFind, argv[0]}, unix.SYS_FACCESSAT, here(), program, number(unix.X_OK)).otherwise = skipsOne
		s.add(place{stepInterpreter, argv[0]}, unix.SYS_EXECVE, program, args, environ).otherwise = searches
	}
	s.add(place{stepFind, argv[0]}, giveUp)
}

// failed returns what a report of a failed call means.
func (s *script) failed(call int, errno unix.Errno) *failure {
	if call < 0 || call >= len(s.calls) {
		return &failure{Step: stepControl, Errno: errno}
	}
	at := s.calls[call].place
	if at.step == stepInterpreter && errno != unix.ENOENT { // the program is there
		at.step = stepExec
	}
	return &failure{Step: at.step, What: at.what, Errno: errno}
}

// commandMounts returns the skill's folder and the workspaces, a workspace
// before those below it.
func commandMounts(cmd *sandbox.Command) ([]mount, error) {
	if err := checkFolder(cmd.Folder); err != nil {
		return nil, fmt.Errorf("skill's folder: %w", err)
	}
	workspaces := cmd.Grant.Workspaces
	if len(workspaces)+2 > maxTrees {
		return nil, fmt.Errorf("%d workspaces are too many: at most %d", len(workspaces), maxTrees-2)
	}
	mounts := []mount{{Source: cmd.Folder, Target: sandbox.SkillDir}}
	for i, path := range workspaces {
		if err := checkWorkspace(path); err != nil {
			return nil, err
		}
		if i == 0 && cmd.Grant.Aliased() {
			mounts = append(mounts, mount{Source: path, Around: around(path, workspaces), Target: sandbox.WorkspaceDir, Write: cmd.Grant.Write})
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(workspaces))) {
		mounts = append(mounts, mount{Source: path, Around: around(path, workspaces), Target: path, Write: cmd.Grant.Write})
	}
	return mounts, nil
}

// around returns the outermost workspace that path is below, "" when none is.
func around(path string, workspaces []string) string {
	outermost := ""
	for _, other := range workspaces {
		if other != path && within(path, other) && (outermost == "" || within(outermost, other)) {
			outermost = other
		}
	}
	return outermost
}

// checkLine refuses what no command line can be.
func checkLine(cmd *sandbox.Command, env []string) error {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return errors.New("the command is empty")
	}
	size := 0
	for _, s := range slices.Concat(cmd.Argv, env) {
		if strings.ContainsRune(s, 0) {
			return errors.New("the command has a NUL byte in its arguments or environment")
		}
		size += len(s) + 2*wordBytes
	}
	if size > maxScript {
		return fmt.Errorf("the arguments and environment are too long: %s", sandbox.Bytes(int64(size)))
	}
	return nil
}

func lookup(env []string, key string) string {
	for _, entry := range env {
		if k, v, _ := strings.Cut(entry, "="); k == key {
			return v
		}
	}
	return ""
}

// openMounts opens what is to be mounted for a command: the server, where it has
// the right to, as it may have a way to what its sandboxes' user has not; and
// else the zygote.
func (h *host) openMounts(mounts []mount, zygote func([]mount) ([]int, error)) ([]int, error) {
	if h.user.changes {
		trees, err := openTrees(mounts)
		if !errors.Is(err, unix.EPERM) { // of root without the right to mount
			return trees, explainMount(mounts, err)
		}
	}
	trees, err := zygote(mounts)
	return trees, explainMount(mounts, err)
}

// explainMount returns an error for people.
func explainMount(mounts []mount, err error) error {
	var f *failure
	if !errors.As(err, &f) || f.Step != stepMount {
		return err
	}
	for _, m := range mounts {
		if m.Source == f.What && m.Around != "" && f.Errno == unix.ELOOP {
			return fmt.Errorf("workspace %s: a symbolic link leads there from workspace %s; remove the link", m.Source, m.Around)
		}
	}
	if f.Errno == unix.EACCES { // a path's matter, not the system's
		return fmt.Errorf("mount %s: permission denied; let the user that sandboxes run as reach it", f.What)
	}
	return fmt.Errorf("mount %s: %w", f.What, f.Errno)
}
