package sandboxtest

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// takeScript defines take(counts), which allocates that many of each resource that the
// kernel limits for a user. It returns the names of the resources that ran out.
const takeScript = `
import array
held = []
def signal_queued(n):
    return libc.sigqueue(os.getpid(), signal.SIGRTMAX, None) == 0
def timer(n):
    return libc.syscall(222 if x86 else 107, 0, None, ctypes.byref(ctypes.c_int())) == 0
def message_queue(n):
    name = b"suite%d.%d" % (os.getpid(), n)
    held.append(libc.syscall(240 if x86 else 180, name, os.O_RDWR | os.O_CREAT, 0o600, None))
    libc.syscall(241 if x86 else 181, name) # it is there until it is closed
    return held[-1] >= 0
def descriptors_in_flight(n):
    pair = socket.socketpair()
    held.extend(pair)
    try:
        pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))])
    except OSError:
        return False
    return True
def inotify(n):
    return libc.inotify_init1(0) >= 0
def take(counts):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMAX])
    things = (signal_queued, timer, message_queue, descriptors_in_flight, inotify)
    return [f.__name__ for f, count in zip(things, counts) if not all(map(f, range(count)))]
`

// probeScript prints the resources of which fewer are left than any program may need.
const probeScript = prelude + takeScript + `
print(*take((8, 8, 1, 1, 4)))
`

// runProbed runs a command that writes to stderr when it waits, and then probes, as the
// users whose resources it may have allocated, which ones are denied.
func (h *host) runProbed(ctx context.Context, t *testing.T, cmd sandbox.Command) outcome {
	t.Helper()
	users := []int{os.Getuid()}
	if uid, _ := sandbox.User(); uid != os.Getuid() {
		users = append(users, uid)
	}
	for _, uid := range users {
		if denied := deniedTo(t, uid); len(denied) > 0 {
			t.Skipf("SKIPPED: user %d has too little of %q before the attack", uid, denied)
		}
	}
	stdin, feed, err := os.Pipe()
	must(t, err)
	defer stdin.Close()
	defer feed.Close()
	var o outcome
	waits, ended := make(chan struct{}, 1), make(chan struct{})
	cmd.Stdin = stdin
	cmd.Stderr = writer(func(p []byte) {
		if strings.Contains(string(p), "waiting") {
			waits <- struct{}{}
		}
	})
	go func() {
		defer close(ended)
		o.result, o.err = h.start(ctx, cmd)
	}()
	select {
	case <-waits:
		for _, uid := range users {
			o.denied = append(o.denied, deniedTo(t, uid)...)
		}
		slices.Sort(o.denied)
	case <-ended:
	}
	feed.Close()
	<-ended
	return o
}

// deniedTo returns the resources that a process of a user on the host cannot get.
func deniedTo(t *testing.T, uid int) []string {
	t.Helper()
	cmd := hostCommand(uid, "env", "PATH=/usr/local/bin:/usr/bin:/bin", "python3", "-c", probeScript)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: the host cannot be looked at by a python3 of user %d: %v: %s", uid, err, out)
	}
	return strings.Fields(string(out))
}
