//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// explain turns what the init could not do into an error for people.
func explain(f *failure, cmd *sandbox.Command) error {
	program := cmd.Argv[0]
	switch {
	case f.Step == stepSetup, f.Step == stepProc, f.Step == stepControl:
		return diagnose(f)
	case f.Step == stepMount && f.Errno == unix.ELOOP:
		return fmt.Errorf("workspace %s: a symbolic link leads there from another workspace; remove the link", f.What)
	case f.Step == stepSelf:
		return fmt.Errorf("execute %s: the sandbox's own init is not for skills to run", program)
	case f.Step == stepFind && f.Errno == unix.ENOENT:
		return &sandbox.UnavailableError{
			Reason: program + " is not on this machine where sandboxes see it",
			Remedy: "install " + program + " in the system folders, such as /usr/bin, or use Docker",
			Err:    f,

			Program: program,
		}
	case f.Step == stepInterpreter:
		return &sandbox.UnavailableError{
			Reason: "the interpreter that " + program + " names in its first line is not on this machine where sandboxes see it",
			Remedy: "install it in the system folders, such as /usr/bin, or use Docker",
			Err:    f,

			Program: program,
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

// A machine is what the reason of a refusal is looked for in.
type machine struct {
	root    fs.FS  // the host's root folder
	release string // of the kernel, such as "6.8.0-31-generic"
	admin   bool   // the server is root
}

// diagnose turns an error of making a sandbox into one that says what about this
// machine is in the way.
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
	for _, o := range obstacles() {
		if o.stands(m, err) {
			return &sandbox.UnavailableError{Reason: o.reason(m), Remedy: o.remedy, Err: err}
		}
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("this system does not let the native sandbox be made (%v)", err),
		Remedy: "run the server on a Linux host with user namespaces, or use Docker",
		Err:    err,
	}
}
