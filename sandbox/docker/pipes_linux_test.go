package docker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/docker/docker/api/types/system"

	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

var _ shellproto.Conn = (*pipes)(nil)

// atPipes returns pipes of which a shell on this machine runs script: it is in their
// folder.
func atPipes(t *testing.T, script string) (*pipes, *exec.Cmd) {
	t.Helper()
	p, err := newPipes(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	shell := exec.Command("/bin/sh", "-c", script)
	shell.Dir = p.dir
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = shell.Process.Kill()
		_ = shell.Wait()
	})
	return p, shell
}

func always(context.Context) bool { return true }

// What a shell writes arrives on the stream that it wrote to, and the connection ends
// with it. By then the pipes have no names any more.
func TestPipes(t *testing.T) {
	p, _ := atPipes(t, `exec 5<&0 <line >out 2>err; printf '!'; read -r line; echo "got $line"; echo "said $line" >&2; cat <&5`)
	dir := p.dir
	if err := p.connect(t.Context(), always); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pipes' folder is there: %v", err)
	}
	if _, err := io.WriteString(p, "a line\n"); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if err := p.Copy(&stdout, &stderr); err != nil || stdout.String() != "got a line\n" || stderr.String() != "said a line\n" {
		t.Errorf("stdout %q, stderr %q, error %v", &stdout, &stderr, err)
	}
}

// Where the shell does not come, or says something else, the pipes are of no use.
func TestPipesUnused(t *testing.T) {
	for name, script := range map[string]string{"it has ended": "exit", "another program": "echo x >out"} {
		p, shell := atPipes(t, script)
		runs := func(context.Context) bool { return shell.Wait() != nil }
		if err := p.connect(t.Context(), runs); !errors.Is(err, errUnconnected) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	p, _ := atPipes(t, "sleep 600")
	ctx, cancel := context.WithCancelCause(t.Context())
	end := errors.New("the end")
	go cancel(end)
	if err := p.connect(ctx, always); !errors.Is(err, end) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// A reader that fails, or Close, ends the copying of both streams.
func TestPipesEnd(t *testing.T) {
	for name, streams := range map[string][2]bool{"stdout": {true, false}, "stderr": {false, true}, "neither": {}} {
		p, _ := atPipes(t, `exec 5<&0 <line >out 2>err; printf '!'; echo x; echo x >&2; exec sleep 600`)
		if err := p.connect(t.Context(), always); err != nil {
			t.Fatal(err)
		}
		failure := errors.New("no more")
		written := make(chan struct{}, 2)
		to := func(fails bool) io.Writer {
			return writerFunc(func(b []byte) (int, error) {
				written <- struct{}{}
				if fails {
					return 0, failure
				}
				return len(b), nil
			})
		}
		if name == "neither" {
			go func() {
				<-written
				_ = p.Close()
			}()
		}
		want := failure
		if name == "neither" {
			want = os.ErrClosed
		}
		if err := p.Copy(to(streams[0]), to(streams[1])); !errors.Is(err, want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Only containers of runc on this machine's kernel have pipes.
func TestPiped(t *testing.T) {
	own := func(change func(*engine)) bool {
		e := &engine{kind: "docker", pipes: "/pipes"}
		e.info.DefaultRuntime = "runc"
		change(e)
		return e.piped()
	}
	if !own(func(*engine) {}) {
		t.Error("runc's have none")
	}
	for name, change := range map[string]func(*engine){
		"gVisor":                func(e *engine) { e.runtime = "runsc" },
		"Podman":                func(e *engine) { e.kind = "podman" },
		"no folder":             func(e *engine) { e.pipes = "" },
		"it was in vain":        func(e *engine) { e.unpiped.Store(true) },
		"gVisor as its default": func(e *engine) { e.info.DefaultRuntime = "runsc" },
	} {
		if own(change) {
			t.Errorf("%s: its containers have pipes", name)
		}
	}
	if sameKernel(system.Info{KernelVersion: "5.15.0-linuxkit"}) || sameKernel(system.Info{}) {
		t.Error("an engine of another kernel is on this one's")
	}
}
