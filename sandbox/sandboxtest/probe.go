package sandboxtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// probeScript returns the script that prints the resources of which fewer are left than any
// program may need.
func probeScript() string { return prelude() + "print(*take((8, 8, 1, 1, 4)))" }

// runProbed runs a command that writes to stderr when it waits, and then probes, as the
// users whose resources it may have allocated, which ones are denied.
func (h *host) runProbed(ctx context.Context, t *testing.T, cmd sandbox.Command) outcome {
	t.Helper()
	defer lockUsers(t)()
	users := []int{os.Getuid()}
	if uid, _ := sandbox.User(); uid != os.Getuid() {
		users = append(users, uid)
	}
	for _, uid := range users {
		awaitResources(t, uid)
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

// lockUsers keeps other processes' suites from the same attack until unlock is called. All
// drivers' sandboxes may run as one user, so one suite's attack denies resources to the
// users that another suite probes.
func lockUsers(t *testing.T) (unlock func()) {
	t.Helper()
	name, flag := filepath.Join(os.TempDir(), "skills-mcp-sandboxtest.lock"), os.O_RDONLY
	if _, err := os.Stat(name); err != nil { // else a kernel may refuse it to other users (fs.protected_regular)
		flag |= os.O_CREATE
	}
	lock := flock.New(name, flock.SetFlag(flag), flock.SetPermissions(0o666))
	must(t, lock.Lock())
	return func() { lock.Unlock() }
}

// awaitResources waits until a user has its resources: the sandbox of another suite's attack
// may end after its call.
func awaitResources(t *testing.T, uid int) {
	t.Helper()
	deadline := time.Now().Add(attackTimeout)
	for denied := deniedTo(t, uid); len(denied) > 0; denied = deniedTo(t, uid) {
		if time.Now().After(deadline) {
			t.Skipf("SKIPPED: user %d has too little of %q before the attack", uid, denied)
		}
	}
}

// deniedTo returns the resources that a process of a user on the host cannot get.
func deniedTo(t *testing.T, uid int) []string {
	t.Helper()
	cmd := hostCommand(uid, "env", "PATH=/usr/local/bin:/usr/bin:/bin", "python3", "-c", probeScript())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: the host cannot be looked at by a python3 of user %d: %v: %s", uid, err, out)
	}
	return strings.Fields(string(out))
}
