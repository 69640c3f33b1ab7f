package docker

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func openKept(t *testing.T, d *Driver) sandbox.Session {
	t.Helper()
	k, err := d.Open(t.Context(), realCommand(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// inKept runs a script in k and returns what it printed, with its exit code.
func inKept(t *testing.T, ctx context.Context, k sandbox.Session, script string, stdin string) (string, *sandbox.Exit, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := command()
	cmd.Argv = []string{"bash", "-c", script}
	cmd.Stdout, cmd.Stderr = &out, &out
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	exit, err := k.Run(ctx, cmd)
	return out.String(), exit, err
}

// Opening a sandbox leaves as many waiting for the skill's calls as there were.
func TestKeptLeavesOthersWaiting(t *testing.T) {
	d := realDriver(t)
	cmd := realCommand(t, "")
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	settled(d)
	k, err := d.Open(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	settled(d)
	if n := len(containers(t, d)); n != 2 {
		t.Errorf("there are %d containers, want the one that is kept and one that waits", n)
	}
}

func TestKept(t *testing.T) {
	d := realDriver(t)
	k := openKept(t, d)
	for _, step := range []struct {
		script, stdin, want string
		code                int
	}{
		{"echo one >/tmp/state; echo made; exit 3", "", "made\n", 3},
		{"cat /tmp/state; cat", "and stdin", "one\nand stdin", 0},
		{"sleep 600 & echo $! >/tmp/pid", "", "", 0},
		{"kill -0 $(cat /tmp/pid) && echo alive", "", "alive\n", 0},
		{"kill -9 $PPID", "", "", 137}, // its own shell
		{"pwd; id -u; cat /tmp/state", "", "/skill\n65534\none\n", 0},
		{"grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status | tr -d '\\t\\n'; ulimit -n", "", "CapEff:0000000000000000NoNewPrivs:1Seccomp:2512\n", 0},
	} {
		got, exit, err := inKept(t, t.Context(), k, step.script, step.stdin)
		if err != nil || got != step.want || exit.Code != step.code {
			t.Errorf("%s: %q, %+v, error %v; want %q and %d", step.script, got, exit, err, step.want, step.code)
		}
	}
}

func TestKeptCancelled(t *testing.T) {
	d := realDriver(t)
	k := openKept(t, d)
	if _, _, err := inKept(t, t.Context(), k, "sleep 600 & echo $! >/tmp/pid", ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := canceled(t)
	cause := errors.New("gave up")
	cmd := command()
	cmd.Argv = []string{"bash", "-c", "sleep 600 & sleep 600"}
	cmd.Started = func() { cancel(cause) }
	if _, err := k.Run(ctx, cmd); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	got, exit, err := inKept(t, t.Context(), k, `ps -eo args= | grep -c "[s]leep 600"; test -s /tmp/pid && echo kept`, "")
	if err != nil || got != "0\nkept\n" {
		t.Errorf("after the cancellation: %q, %+v, error %v", got, exit, err)
	}
}

func TestKeptEnded(t *testing.T) {
	d := realDriver(t)
	k := openKept(t, d)
	for _, c := range containers(t, d) {
		if err := d.engine.Load().remove(context.Background(), c.ID); err != nil {
			t.Fatal(err)
		}
	}
	var unavailable *sandbox.UnavailableError
	if _, _, err := inKept(t, t.Context(), k, "true", ""); !errors.As(err, &unavailable) {
		t.Errorf("error %v, want a lost sandbox", err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := inKept(t, t.Context(), k, "true", ""); !errors.As(err, &unavailable) {
		t.Errorf("after its end: error %v", err)
	}
}

func TestKeptClosedWithDriver(t *testing.T) {
	d := realDriver(t)
	k := openKept(t, d)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := inKept(t, t.Context(), k, "true", ""); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("error %v, want %v", err, sandbox.ErrClosed)
	}
}
