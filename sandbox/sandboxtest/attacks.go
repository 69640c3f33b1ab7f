package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An attack is what a hostile script tries. It has bash or python.
//
// A script prints one line for each thing that worked. Where the attack has no
// judge, it passes when the script ran to its end and nothing worked.
type attack struct {
	name         string // as docs/security.md has it
	bash, python string
	// inside are the lines that are no escape where the sandbox has a kernel of
	// its own: what worked is that kernel's.
	inside []string
	// shared are the resources that others may be denied where the sandbox's user
	// has no namespace of its own.
	shared []string
	// write grants a writable workspace rather than a read-only one.
	write  bool
	stdin  string
	limits sandbox.Limits
	// besides has the host try, while the script waits for its standard input to end,
	// whether others still get their resources. The script says on stderr when it
	// waits.
	besides bool
	// judge returns an error for a wrong outcome.
	judge func(o outcome) error
	// bare is whether the attack works, and does no lasting harm, where root runs
	// it without a sandbox: it shows that the attack is one.
	bare bool
}

// attacks returns all of them.
func attacks() []attack {
	return slices.Concat(fileAttacks(), hostAttacks(), kernelAttacks(), networkAttacks(), outputAttacks(), resourceAttacks())
}

// An outcome is what came of an attack.
type outcome struct {
	result *sandbox.Result // nil where the script did not start
	err    error
	denied []string // resources that others could not get meanwhile
}

func (o outcome) stdout() string {
	if o.result == nil {
		return ""
	}
	return string(o.result.Stdout.Bytes())
}

func (o outcome) String() string {
	if o.result == nil {
		return fmt.Sprintf("error %v", o.err)
	}
	return fmt.Sprintf("exit %d, error %v, stdout %.800q, stderr %.800q", o.result.Code, o.err, o.result.Stdout.Bytes(), o.result.Stderr.Bytes())
}

// tried is the last line of every script that gets to its end.
const tried = "tried\n"

// attackTimeout is how long a script has that says nothing of it.
const attackTimeout = 60 * time.Second

// attacks runs every attack, one after the other, and looks at the host after
// each.
func (s suite) attacks(t *testing.T) {
	h := newHost(t, s.start(t))
	h.victim = newVictim(t, h)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			mark := newMark()
			h.available = availableMemory()
			o := h.run(t, a, mark)
			if err := s.verdict(a, o); err != nil {
				t.Errorf("%v\n%v", err, o)
			}
			if err := h.leaked(o); err != nil {
				t.Error(err)
			}
			h.check(t, mark)
		})
	}
	h.end(t)
}

// verdict says what is wrong with an outcome, if anything.
func (s suite) verdict(a attack, o outcome) error {
	if a.judge != nil {
		return a.judge(o)
	}
	var worked []string
	for _, what := range o.denied {
		if !(s.traits.HostUser && slices.Contains(a.shared, what)) {
			worked = append(worked, what)
		}
	}
	for line := range strings.Lines(o.stdout()) {
		if line != tried && !(s.traits.OwnKernel && slices.Contains(a.inside, strings.TrimSpace(line))) {
			worked = append(worked, line)
		}
	}
	switch {
	case len(worked) > 0:
		return fmt.Errorf("this worked: %q", worked)
	case o.err != nil || o.result.Code != 0 || !strings.HasSuffix(o.stdout(), tried):
		return errors.New("the script did not run to its end")
	}
	return nil
}

// command is the attack as a command, with what it may need to know.
func (a attack) command(h *host, mark string) sandbox.Command {
	cmd := bash(a.bash + "\necho tried")
	if a.python != "" {
		cmd.Argv = []string{"python3", "-c", prelude + a.python + "\nprint('tried', flush=True)"}
	}
	cmd.Folder = h.folder
	cmd.Grant.Workspaces = []string{h.workspace}
	if a.write {
		cmd.Grant = sandbox.Grant{Workspaces: []string{h.scratch}, Write: true}
	}
	cmd.Env = []string{
		markName + "=" + mark,
		"WORKSPACE=" + cmd.Grant.Workspaces[0],
		"SECRET_FILE=" + h.secretFile,
		"HOST_HOME=" + h.home,
		"PORT=" + h.port,
		"ADDRESSES=" + strings.Join(h.addresses, " "),
	}
	if a.stdin != "" {
		cmd.Stdin = strings.NewReader(a.stdin)
	}
	cmd.Limits = a.limits.Or(sandbox.Limits{Timeout: attackTimeout})
	return cmd
}

// run runs the attack.
func (h *host) run(t *testing.T, a attack, mark string) outcome {
	t.Helper()
	if a.write {
		h.scratch = shared(t)
		must(t, openToAll(h.scratch))
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*attackTimeout, errors.New("the driver did not end the attack in time"))
	defer cancel()
	cmd := a.command(h, mark)
	if a.besides {
		return h.runBesides(ctx, t, cmd)
	}
	result, err := h.start(ctx, cmd)
	return outcome{result: result, err: err}
}

// prelude is what python scripts share: system calls by number, with a line for
// each that was not refused.
const prelude = `
import ctypes, errno, os, platform, signal, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENODEV}
def worked(what):
    print(what, flush=True)
def call(what, amd64, arm64, *args):
    "makes a system call; any answer but a refusal is from behind the filter"
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

// refusedOrEnded passes scripts that may end their own call, as long as it ends
// and is not said to have gone well.
func refusedOrEnded(o outcome) error {
	if o.err == nil && o.result.Code == 0 {
		return errors.New("the call is said to have gone well")
	}
	return ended(o)
}

// ended passes whatever ended by itself or by a limit.
func ended(o outcome) error {
	if errors.Is(o.err, context.DeadlineExceeded) || o.result == nil && o.err == nil {
		return errors.New("the call did not end")
	}
	return nil
}

// limited passes what was ended by the limit.
func limited(limit string) func(o outcome) error {
	return func(o outcome) error {
		var e *sandbox.LimitError
		if !errors.As(o.err, &e) || e.Limit != limit {
			return fmt.Errorf("the %s limit did not end it", limit)
		}
		return nil
	}
}

// exactly passes an output that arrived as it was written, and the exit code.
func exactly(stdout string, code int) func(o outcome) error {
	return func(o outcome) error {
		if o.err != nil || o.result.Code != code || o.stdout() != stdout {
			return fmt.Errorf("want exit %d and stdout %.800q", code, stdout)
		}
		return nil
	}
}
