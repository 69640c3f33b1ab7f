//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// explain returns an error for people from a failure of the init.
func explain(f *failure, cmd *sandbox.Command) error {
	program := cmd.Argv[0]
	switch {
	case f.Step == stepSetup, f.Step == stepProc, f.Step == stepControl:
		return diagnose(f)
	case f.Step == stepMount && f.Errno == unix.ELOOP:
		return fmt.Errorf("workspace %s: a symbolic link leads there from another workspace; remove the link", f.What)
	case f.Step == stepSelf:
		return fmt.Errorf("execute %s: the sandbox's own init is not for skills to run", program)
	case f.Step == stepFind && f.Errno == unix.ENOENT, f.Step == stepInterpreter:
		missing := program
		if f.Step == stepInterpreter {
			missing = "the interpreter that " + program + " names in its first line"
		}
		return &sandbox.UnavailableError{
			Reason: missing + " is not on this machine where sandboxes see it",
			Remedy: "install it in the system folders, such as /usr/bin, or use Docker",
			Err:    f, Program: program,
		}
	case f.Step == stepExec && f.Errno == unix.ENOENT:
		return fmt.Errorf("execute %s: there is no such file in the sandbox: %w", program, f.Errno)
	case f.Step == stepExec && f.Errno == unix.E2BIG:
		return fmt.Errorf("execute %s: its arguments and environment are too long for the system: %w", program, f.Errno)
	case f.Step == stepExec && f.Errno == unix.ENOEXEC:
		return fmt.Errorf("execute %s: no program, and no script that begins with #!: %w", program, f.Errno)
	}
	return f
}

// A machine holds the facts that obstacles are recognized by.
type machine struct {
	root    fs.FS  // the host's root folder
	release string // of the kernel, such as "6.8.0-31-generic"
	admin   bool   // the server is root
}

// diagnose returns an error that names the obstacle on this machine, if there
// is a known one, from an error of making a sandbox.
func diagnose(err error) error {
	m := machine{root: os.DirFS("/"), admin: os.Geteuid() == 0}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.release = unix.ByteSliceToString(name.Release[:])
	}
	return m.diagnose(err)
}

func (m *machine) diagnose(err error) error {
	var errno unix.Errno
	if !errors.As(err, &errno) || !refused(errno) {
		return err
	}
	for _, o := range m.obstacles() {
		if o.applies(m, err) {
			return &sandbox.UnavailableError{Reason: o.reason, Remedy: o.remedy, Err: err}
		}
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("this system does not let the native sandbox be made (%v)", err),
		Remedy: "run the server on a Linux host with user namespaces, or use Docker",
		Err:    err,
	}
}

// The first Linux that has all that is used here: the newest are mount_setattr,
// of 5.12, and RLIMIT_NPROC counted by user namespace, of 5.14.
const oldestMajor, oldestMinor = 5, 14

// An obstacle is a known reason why a machine refuses sandboxes.
type obstacle struct {
	applies        func(m *machine, err error) bool
	reason, remedy string
}

// refused reports whether errno may come from an obstacle, rather than from a
// shortage that passes.
func refused(errno unix.Errno) bool {
	switch errno {
	case unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EUSERS, unix.EINVAL, unix.ENOSYS, unix.ENODEV:
		return true
	}
	return false
}

// obstacles returns all obstacles, the most certain first.
func (m *machine) obstacles() []obstacle {
	return []obstacle{
		{
			applies: func(m *machine, _ error) bool { return m.older() },
			reason:  fmt.Sprintf("the native sandbox needs Linux %d.%d or newer, and this is %s", oldestMajor, oldestMinor, m.release),
			remedy:  "upgrade the kernel, or use Docker",
		},
		{
			applies: func(m *machine, _ error) bool { return !m.has("proc/self/ns/user") },
			reason:  "this kernel is built without user namespaces",
			remedy:  "use a distribution's kernel, or Docker",
		},
		{
			applies: sysctl("user/max_user_namespaces", "0"),
			reason:  "user namespaces are switched off: user.max_user_namespaces is 0",
			remedy:  "run 'sudo sysctl -w user.max_user_namespaces=15000', or use Docker",
		},
		{
			applies: unprivileged(sysctl("kernel/unprivileged_userns_clone", "0")),
			reason:  "user namespaces are only for root: kernel.unprivileged_userns_clone is 0",
			remedy:  "run 'sudo sysctl -w kernel.unprivileged_userns_clone=1', or use Docker",
		},
		{
			applies: unprivileged(sysctl("kernel/apparmor_restrict_unprivileged_userns", "1")),
			reason:  "AppArmor keeps programs without a profile from user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1",
			remedy:  "give this program an AppArmor profile with 'userns,', or run 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0', or use Docker",
		},
		{
			applies: func(_ *machine, err error) bool {
				var f *failure
				return errors.As(err, &f) && f.Step == stepProc
			},
			reason: "parts of /proc are hidden here, as in a container, so a sandbox cannot have its own",
			remedy: "run the server outside the container, or start that with --security-opt systempaths=unconfined",
		},
		{
			applies: func(m *machine, _ error) bool { return strings.Contains(m.read("proc/self/status"), "\nSeccomp:\t2") },
			reason:  "the server runs under a seccomp filter that forbids namespaces, as in a container",
			remedy:  "run the server outside the container, or start that with --security-opt seccomp=unconfined",
		},
		{
			applies: func(_ *machine, err error) bool {
				return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EUSERS)
			},
			reason: "the system's limit on namespaces is reached",
			remedy: "raise the user.max_*_namespaces settings, or use Docker",
		},
	}
}

// sysctl applies when a setting has a value.
func sysctl(name, value string) func(*machine, error) bool {
	return func(m *machine, _ error) bool {
		return strings.TrimSpace(m.read("proc/sys/"+name)) == value
	}
}

// unprivileged applies when the server is not root and applies does.
func unprivileged(applies func(*machine, error) bool) func(*machine, error) bool {
	return func(m *machine, err error) bool { return !m.admin && applies(m, err) }
}

func (m *machine) older() bool {
	var major, minor int
	if _, err := fmt.Sscanf(m.release, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < oldestMajor || major == oldestMajor && minor < oldestMinor
}

func (m *machine) has(path string) bool {
	_, err := fs.Stat(m.root, path)
	return err == nil
}

func (m *machine) read(path string) string {
	text, _ := fs.ReadFile(m.root, path)
	return string(text)
}
