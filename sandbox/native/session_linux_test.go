//go:build amd64 || arm64

package native

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// keep opens a sandbox that is closed with the test.
func keep(t *testing.T, d *Driver, cmd sandbox.Command) sandbox.Session {
	t.Helper()
	cmd.RunID = "kept"
	if cmd.Folder == "" {
		cmd.Folder = openFolder(t)
	}
	k, err := d.Open(t.Context(), &cmd)
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

func in(t *testing.T, k sandbox.Session, script string) (stdout string, exit *sandbox.Exit, err error) {
	t.Helper()
	return inContext(t, t.Context(), k, script, nil)
}

func inContext(t *testing.T, ctx context.Context, k sandbox.Session, script string, started func()) (stdout string, exit *sandbox.Exit, err error) {
	t.Helper()
	var out bytes.Buffer
	exit, err = k.Run(ctx, &sandbox.Command{
		RunID: "kept", Argv: []string{"bash", "-c", script}, Stdout: &out, Stderr: t.Output(), Started: started,
	})
	return out.String(), exit, err
}

func TestKept(t *testing.T) {
	workspace := openFolder(t)
	k := keep(t, newDriver(t), sandbox.Command{Grant: sandbox.Grant{Workspaces: []string{workspace}}})
	for _, step := range []struct {
		script, stdout string
		code           int
	}{
		{`echo one >/tmp/file; echo two >/out/file; cd /tmp; echo $$`, "2\n", 0},
		{`cat /tmp/file /out/file; pwd; exit 3`, "one\ntwo\n/skill\n", 3},
		{`sleep 600 </dev/null >/dev/null 2>&1 & echo $! >/tmp/pid`, "", 0},
		{`kill -0 $(</tmp/pid) && echo lives; (exec true) & wait`, "lives\n", 0},
		{`sleep 600 & echo held`, "held\n", 0}, // which keeps the stream open
		{`head -c 40000 /dev/zero | tr '\0' x; kill -TERM $$`, strings.Repeat("x", 40000), 143},
		{`ls -d /workspace; (echo x >/workspace/new) 2>/dev/null || echo refused`, "/workspace\nrefused\n", 0},
		{`kill $(</tmp/pid); for ((i = 0; i < 100000; i++)); do kill -0 $(</tmp/pid) 2>/dev/null || break; done; echo ended`, "ended\n", 0},
		{`ls /proc/1/fd/ /proc/1/root/ 2>/dev/null; for ((fd = 3; fd < 255; fd++)); do [ -e /proc/$$/fd/$fd ] && echo $fd; done; true`, "", 0},
	} {
		stdout, exit, err := in(t, k, step.script)
		if err != nil || exit.Code != step.code || stdout != step.stdout {
			t.Errorf("%s: stdout %.200q, exit %+v, error %v", step.script, stdout, exit, err)
		}
	}
	if _, err := k.Run(t.Context(), &sandbox.Command{RunID: "kept", Argv: []string{"no-such-program"}}); err == nil {
		t.Error("a program that is not there was run")
	}
	if stdout, _, err := in(t, k, `echo still here`); stdout != "still here\n" || err != nil {
		t.Errorf("after that: %q, %v", stdout, err)
	}
}

// TestKeptCancelled ends a command, and with it those that were left behind, but
// not the sandbox.
func TestKeptCancelled(t *testing.T) {
	k := keep(t, newDriver(t), sandbox.Command{})
	if _, _, err := in(t, k, `echo kept >/tmp/file; trap '' TERM; sleep 600 </dev/null >/dev/null 2>&1 & true`); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, exit, err := inContext(t, ctx, k, `trap '' TERM; sleep 600 & sleep 600`, func() { cancel(cause) })
	if !errors.Is(err, cause) || exit != nil {
		t.Errorf("exit %+v, error %v", exit, err)
	}
	if _, _, err := inContext(t, ctx, k, `touch /tmp/new`, nil); !errors.Is(err, cause) {
		t.Errorf("with a context that is done: %v", err)
	}
	const processes = `cd /proc; for p in [0-9]*; do [ $p = 1 ] || [ $p = $$ ] || echo $p; done`
	stdout, _, err := in(t, k, `cat /tmp/file; ls /tmp; `+processes)
	if err != nil || stdout != "kept\nfile\n" {
		t.Errorf("afterwards: %q, %v", stdout, err)
	}
}

// TestKeptEnds has a sandbox ended in every way while a command runs and another
// waits.
func TestKeptEnds(t *testing.T) {
	for name, end := range map[string]func(d *Driver, k sandbox.Session){
		"by Close":         func(_ *Driver, k sandbox.Session) { _ = k.Close() },
		"by its driver":    func(d *Driver, _ sandbox.Session) { _ = d.Close() },
		"by somebody else": func(_ *Driver, k sandbox.Session) { k.(*nativeSession).instance.kill() },
		"with its zygote": func(d *Driver, _ sandbox.Session) {
			awaitRefill(d.pool)
			d.pool.mu.Lock()
			defer d.pool.mu.Unlock()
			_ = d.pool.zygote.process.Kill()
		},
		"with both of them": func(d *Driver, k sandbox.Session) { _ = k.Close(); _ = d.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t)
			k := keep(t, d, sandbox.Command{})
			started := make(chan struct{})
			var work sync.WaitGroup
			run := func(started func()) {
				work.Go(func() {
					var gone *sandbox.UnavailableError
					if _, exit, err := inContext(t, t.Context(), k, `sleep 600`, started); !errors.As(err, &gone) || exit != nil {
						t.Errorf("exit %+v, error %v", exit, err)
					}
				})
			}
			run(func() { close(started) })
			<-started
			run(func() { t.Error("two commands run at once") })
			end(d, k)
			work.Wait()
			var gone *sandbox.UnavailableError
			if _, _, err := in(t, k, `true`); !errors.As(err, &gone) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestKeptLimits wants the limits of the sandbox to be those of each command.
func TestKeptLimits(t *testing.T) {
	k := keep(t, newDriver(t), sandbox.Command{Limits: sandbox.Limits{Files: 64, Tmp: 1 << 20, Memory: 64 << 20}})
	for range 2 {
		stdout, _, err := in(t, k, `ulimit -n; head -c 8M /dev/zero >/tmp/x 2>/dev/null || echo full; python3 -c 'x = b"x" * (1 << 30)' 2>/dev/null || echo no memory`)
		if err != nil || stdout != "64\nfull\nno memory\n" {
			t.Errorf("stdout %q, %v", stdout, err)
		}
	}
}

func TestKeptRefused(t *testing.T) {
	d := newDriver(t)
	if _, err := d.Open(t.Context(), &sandbox.Command{RunID: "kept", Folder: "/no-such-folder"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Open(ctx, &sandbox.Command{RunID: "kept", Folder: openFolder(t)}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(t.Context(), &sandbox.Command{RunID: "kept", Folder: openFolder(t)}); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
