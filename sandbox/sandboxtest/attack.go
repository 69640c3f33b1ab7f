package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An attack is a hostile script, in bash or python.
//
// A script prints one line for each thing that worked. Where the attack has no
// judge, it passes when the script ran to its end and nothing worked.
type attack struct {
	name         string // as in docs/security.md
	bash, python string
	// inside lists the lines that are no escape where the sandbox has a kernel of its
	// own: they concern that kernel.
	inside []string
	// shared lists the resources that others may be denied where the sandbox's user
	// has no namespace of its own.
	shared []string
	// write grants a writable workspace rather than a read-only one.
	write  bool
	stdin  string
	limits sandbox.Limits
	// probed says that the host probes, while the script waits for the end of its
	// standard input, whether others still get their resources. The script writes to
	// stderr when it waits.
	probed bool
	// judge returns an error for a wrong outcome.
	judge func(o outcome) error
	// bare says that the attack works, and does no lasting harm, where root runs it
	// without a sandbox. That proves the attack.
	bare bool
}

// An outcome is the result of an attack.
type outcome struct {
	result *sandbox.Result // nil where the script did not start
	err    error
	denied []string // resources that others could not get meanwhile
}

// stdout returns the output, or "" where the script did not start.
func (o outcome) stdout() string {
	if o.result == nil {
		return ""
	}
	return string(o.result.Stdout.Bytes())
}

// String describes the outcome for a test's failure.
func (o outcome) String() string {
	if o.result == nil {
		return fmt.Sprintf("error %v", o.err)
	}
	return fmt.Sprintf("exit %d, error %v, stdout %.800q, stderr %.800q", o.result.Code, o.err, o.result.Stdout.Bytes(), o.result.Stderr.Bytes())
}

// tried is the last line of every script that runs to its end.
const tried = "tried\n"

// attackTimeout bounds a script without a limit of its own.
const attackTimeout = 60 * time.Second

// prelude begins each python script: system calls by number, with a line for each that
// was not refused.
const prelude = `
import ctypes, errno, os, platform, signal, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENODEV}
def worked(what):
    print(what, flush=True)
def call(what, amd64, arm64, *args):
    "makes a system call; any result but a refusal is from behind the filter"
    if (amd64 if x86 else arm64) is None:
        return
    ctypes.set_errno(0)
    n = libc.syscall(amd64 if x86 else arm64, *args)
    if n >= 0 or ctypes.get_errno() not in REFUSED:
        worked(what)
    return n
def attempt(what, f):
    "calls f, which raises an error when it is kept from what it does"
    try:
        f()
    except (OSError, ValueError):
        return
    worked(what)
def child(f):
    "calls f in a process of its own, and returns how that ended"
    pid = os.fork()
    if pid == 0:
        try:
            f()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]
`

// refusedOrEnded passes calls that ended and did not succeed: the script may end its own
// call.
func refusedOrEnded(o outcome) error {
	if o.err == nil && o.result.Code == 0 {
		return errors.New("the call is said to have gone well")
	}
	return ended(o)
}

// ended passes calls that ended by themselves or by a limit.
func ended(o outcome) error {
	if errors.Is(o.err, context.DeadlineExceeded) || o.result == nil && o.err == nil {
		return errors.New("the call did not end")
	}
	return nil
}

// limited passes calls that were ended by the limit.
func limited(limit string) func(o outcome) error {
	return func(o outcome) error {
		var e *sandbox.LimitError
		if !errors.As(o.err, &e) || e.Limit != limit {
			return fmt.Errorf("the %s limit did not end it", limit)
		}
		return nil
	}
}

// exactly passes calls with the exit code and the output, byte for byte.
func exactly(stdout string, code int) func(o outcome) error {
	return func(o outcome) error {
		if o.err != nil || o.result.Code != code || o.stdout() != stdout {
			return fmt.Errorf("want exit %d and stdout %.800q", code, stdout)
		}
		return nil
	}
}
