//go:build amd64 || arm64

package native

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// initName is the init's argv[0]. No slash, so that no skill's path is it.
	initName = "skills-mcp: sandbox"
	// controlFD is the init's end of the socket pair.
	controlFD = 3

	hostname = "sandbox"
)

// init turns this process into the init of a sandbox, and then never returns,
// if that is what a [Driver] started it for.
//
// It is the one init function of the program: main begins only when every
// package is initialized, which for this program takes longer (8 ms, measured)
// than all that the sandbox's init does.
func init() {
	if len(os.Args) != 1 || os.Args[0] != initName {
		return
	}
	// Privileges belong to threads: the one that gives them up must be the one
	// that starts the command.
	runtime.LockOSThread()
	server := wire(controlFD)
	if err := initMain(server); err != nil {
		server.tell(&report{Failed: asFailure(err)})
		os.Exit(1)
	}
	os.Exit(0)
}

// initMain is process 1 of the sandbox, from its start to the command's end.
// With it ends every process that the command left behind.
func initMain(server wire) error {
	// No process in the sandbox may look into this one, which runs the host's
	// file and, for now, has capabilities.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fail(stepSetup, "become undumpable", err)
	}
	unix.Umask(0o022)
	// Everything from here on is not for the command.
	if err := unix.CloseRange(controlFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fail(stepSetup, "close_range", err)
	}
	var s setup
	trees, err := server.receive(&s)
	if err != nil {
		return fail(stepControl, "", err)
	}
	if err := prepare(&s, trees); err != nil {
		return err
	}
	var j job
	if _, err := server.receive(&j); err != nil {
		return fail(stepControl, "", err)
	}
	pid, err := start(&j)
	if err != nil {
		return err
	}
	server.tell(&report{Started: true})
	server.tell(&report{Exited: true, Code: reap(pid)})
	return nil
}

// prepare does all that can be done before the command is known, and leaves
// this process without privileges.
func prepare(s *setup, trees []int) error {
	if err := unix.Sethostname([]byte(hostname)); err != nil {
		return fail(stepSetup, "set the host name", err)
	}
	if err := raiseLoopback(); err != nil {
		return fail(stepSetup, "raise the loopback interface", err)
	}
	forbidUserNamespaces()
	if err := buildRoot(s, trees); err != nil {
		return err
	}
	if err := unix.Chdir(sandbox.SkillDir); err != nil {
		return fail(stepMount, sandbox.SkillDir, err)
	}
	if err := limitResources(s); err != nil {
		return err
	}
	return lockDown()
}

func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// forbidUserNamespaces keeps the command from making any below its own, the
// door to most of the kernel's privileged code. The seccomp filter refuses them
// too; so failing is fine.
func forbidUserNamespaces() {
	_ = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
}

func asFailure(err error) failure {
	var f *failure
	if errors.As(err, &f) {
		return *f
	}
	return failure{Step: stepSetup, What: err.Error(), Errno: unix.EIO}
}
