package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// settled waits until d does nothing in the background.
func settled(d *Driver) {
	d.pool.Wait()
	d.owner.background.Wait()
}

// waiting returns d's containers that wait, when nothing is under way.
func waiting(t *testing.T, d *Driver) []string {
	t.Helper()
	settled(d)
	var ids []string
	for _, c := range containers(t, d) {
		if c.State != "running" {
			t.Errorf("container %s is %s", c.ID, c.State)
		}
		ids = append(ids, c.ID)
	}
	return ids
}

// eventually waits until a condition holds that no event tells of.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(5 * time.Minute)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not so: %s", what)
		}
	}
}

// A call runs in a container that was started before it, and that nobody uses
// again.
func TestWarm(t *testing.T) {
	d := realDriver(t)
	cmd := realCommand(t, "exit 0")
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for range 3 {
		before := waiting(t, d)
		if len(before) != 1 {
			t.Fatalf("%d containers wait, want 1", len(before))
		}
		next := *cmd
		next.Argv = []string{"sleep", "600"}
		ctx, cancel := context.WithCancel(t.Context())
		id, ended := started(t, ctx, d, &next)
		if id != before[0] || used[id] {
			t.Errorf("it ran in %s, want the one that waited, %s", id, before[0])
		}
		used[id] = true
		cancel()
		<-ended
		if slices.Contains(waiting(t, d), id) {
			t.Errorf("%s is still there", id)
		}
	}
}

// Nothing that a call brings along is in what the engine knows of its container,
// or in what the first process shows.
func TestWarmSecrets(t *testing.T) {
	d := realDriver(t)
	var out bytes.Buffer
	said := make(chan struct{})
	cmd := realCommand(t, `cat /proc/1/cmdline /proc/1/environ && echo said && cat >/dev/null && exec sleep 600`)
	cmd.Argv = append(cmd.Argv, "arg-5ecret")
	cmd.Env = []string{"TOKEN=env-5ecret", "SKILL_PARAMS=params-5ecret"}
	cmd.Stdin = strings.NewReader("stdin-5ecret")
	cmd.Stdout = writerFunc(func(p []byte) (int, error) {
		out.Write(p)
		if strings.Contains(out.String(), "said\n") && !closed(said) {
			close(said)
		}
		return len(p), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	id, ended := started(t, ctx, d, cmd)
	select {
	case <-said:
	case err := <-ended:
		t.Fatalf("ended: %v, with %q", err, &out)
	}
	_, known, err := d.engine.Load().api.ContainerInspectWithRaw(ctx, id, false)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
	if !json.Valid(known) || !strings.Contains(string(known), id) {
		t.Fatalf("this is not what the engine knows: %s", known)
	}
	if strings.Contains(string(known), "5ecret") {
		t.Errorf("the engine knows of it: %s", known)
	}
	if shown := out.String(); !strings.Contains(shown, "skills_mcp_line") || strings.Contains(shown, "5ecret") {
		t.Errorf("the first process shows %q", shown)
	}
}

// TestOut leaves files of all kinds.
func TestOut(t *testing.T) {
	d := realDriver(t)
	for name, test := range map[string]struct {
		script string
		taken  map[string]string
		left   []string
	}{
		"nothing": {script: "true"},
		"files": {
			script: `cd /out; printf text >a.txt; : >empty; printf '\000\377\n' >binary; mkdir -p b/c; printf deep >b/c/d; printf x >.hidden; printf y >'sp ace "é'`,
			taken:  map[string]string{"a.txt": "text", "empty": "", "binary": "\x00\xff\n", "b/c/d": "deep", ".hidden": "x", `sp ace "é`: "y"},
		},
		"hidden alone":  {script: `printf x >/out/..x`, taken: map[string]string{"..x": "x"}},
		"no folder":     {script: `mkdir -p /out/a/b`},
		"names of ours": {script: `mkdir /out/out; printf x >/out/out/out; printf y >/out/x; printf z >/out/out/x`, taken: map[string]string{"out/out": "x", "x": "y", "out/x": "z"}},
		"out itself":    {script: `printf x >/out/out`, taken: map[string]string{"out": "x"}},
		"a long name":   {script: `n=$(printf %0200d 0); mkdir -p /out/$n/$n; printf x >/out/$n/$n/$n`, taken: map[string]string{strings.Repeat("0", 200) + "/" + strings.Repeat("0", 200) + "/" + strings.Repeat("0", 200): "x"}},
		"after failure": {script: `printf x >/out/x; exit 3`, taken: map[string]string{"x": "x"}},
		"links": {
			script: `cd /out; ln -s /etc/passwd soft; ln -s nowhere dangling; mkfifo fifo; printf x >x`,
			taken:  map[string]string{"x": "x"},
			left:   []string{"soft", "dangling", "fifo"},
		},
		"two names":         {script: `cd /out; mkdir a; printf x >a/x; ln a/x a/y`, left: []string{"a/"}},
		"link for a folder": {script: `rmdir /out 2>/dev/null; ln -s /etc /out/etc`, left: []string{"etc"}},
		"bad names":         {script: `printf x >/out/$'a\nb'; printf x >/out/$'\xff'; printf x >'/out/back\slash'`, left: []string{`a\nb`, `\xff`, `back\\slash`}},
		"too many":          {script: `cd /out; for i in $(seq 66); do printf $i >$i; done`, left: []string{"at most 64 files"}},
		"too big":           {script: `cd /out; head -c 17000000 /dev/zero >big; printf x >small`, taken: map[string]string{"small": "x"}, left: []string{"big"}},
	} {
		t.Run(name, func(t *testing.T) {
			exit, err := d.Run(t.Context(), realCommand(t, test.script))
			if err != nil {
				t.Fatal(err)
			}
			taken := map[string]string{}
			for _, file := range exit.Out.Taken {
				taken[file.Name] = string(file.Data)
			}
			if count := map[string]int{"too many": sandbox.MaxOutFiles, "two names": 1}[name]; count > 0 { // in any order
				if len(taken) != count {
					t.Errorf("%d files are taken, want %d", len(taken), count)
				}
			} else if diff := cmp.Diff(test.taken, taken); diff != "" && len(test.taken)+len(taken) > 0 {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			left := strings.Join(exit.Out.Left, "\n")
			for _, want := range test.left {
				if !strings.Contains(left, want) {
					t.Errorf("left is %q, want one with %q", left, want)
				}
			}
			if len(test.left) == 0 && left != "" {
				t.Errorf("left is %q", left)
			}
		})
	}
}

// A holdingConn passes on the beginning of stdout, and holds the rest back.
type holdingConn struct {
	*conn
	passes  int
	passed  chan struct{} // closed when all that is to pass has
	release chan struct{}
}

func (c *holdingConn) Copy(stdout, stderr io.Writer) error {
	return c.conn.Copy(writerFunc(func(p []byte) (int, error) {
		n := min(len(p), c.passes)
		_, err := stdout.Write(p[:n])
		if c.passes > 0 {
			if c.passes -= n; c.passes == 0 {
				close(c.passed)
			}
		}
		if n < len(p) {
			<-c.release
		}
		return len(p), err
	}), stderr)
}

// What has been answered has ended: whatever the command left running is dead
// before its status is said. To see it, the container is kept from its own end
// by a /out that nobody reads.
func TestDaemonsDead(t *testing.T) {
	d := realDriver(t)
	ctx := t.Context()
	cmd := realCommand(t, `setsid sleep 1001 & (trap "" HUP TERM INT; setsid sleep 1002) & sleep 1003 & disown -a; for i in 1 2 3 4; do head -c 10000000 /dev/zero >/out/$i; done; exit 5`)
	e, err := d.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	image, err := d.image(ctx, e, cmd)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := newSpec(cmd, image, e)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.owner.create(ctx, e, spec)
	if err != nil {
		t.Fatal(err)
	}
	response, err := b.attach(ctx, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		t.Fatal(err)
	}
	// What stdout begins with: two marks and the status.
	held := &holdingConn{conn: newConn(response), passes: 2*(26+1) + len("5 0 1\n"), passed: make(chan struct{}), release: make(chan struct{})}
	b.shell = shellproto.NewShell(held, nil)
	if err := e.api.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = b.run(ctx, cmd, image)
	}()
	defer func() {
		close(held.release)
		<-over
		d.owner.discard(b)
	}()
	<-held.passed
	var processes string
	eventually(t, "no process is left", func() bool {
		top, err := e.api.ContainerTop(ctx, b.id, nil)
		if err != nil {
			t.Fatalf("the container has ended too early: %v", err)
		}
		processes = fmt.Sprint(top.Processes)
		return !strings.Contains(processes, "sleep 100")
	})
	if !strings.Contains(processes, "tar") {
		t.Errorf("these processes show nothing: %s", processes)
	}
}

// Somebody who cleans up the engine by hand disturbs no later call.
func TestWarmEndedFromOutside(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, e *engine, id string) error{
		"removed": func(ctx context.Context, e *engine, id string) error {
			return e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
		},
		"stopped": func(ctx context.Context, e *engine, id string) error {
			return e.api.ContainerStop(ctx, id, container.StopOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := realDriver(t)
			cmd := realCommand(t, "exit 7")
			if _, err := d.Run(t.Context(), cmd); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				for _, id := range waiting(t, d) {
					if err := end(t.Context(), d.engine.Load(), id); err != nil {
						t.Fatal(err)
					}
				}
				if exit, err := d.Run(t.Context(), cmd); err != nil || exit.Code != 7 {
					t.Errorf("exit %v, error %v", exit, err)
				}
			}
		})
	}
}

// A container that waits, or that is kept, ends by itself when its driver is gone:
// its input ends.
func TestWarmEndsWithItsInput(t *testing.T) {
	everyEngine(t, func(t *testing.T, d *Driver) {
		cmd := realCommand(t, "exit 0")
		if _, err := d.Run(t.Context(), cmd); err != nil {
			t.Fatal(err)
		}
		if ids := waiting(t, d); len(ids) != 1 {
			t.Fatalf("%d containers wait, want 1", len(ids))
		}
		e, _, spec, err := d.prepare(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.pool.Take(t.Context(), d.owner.warm(e, spec), -1)
		if err != nil {
			t.Fatal(err)
		}
		defer d.owner.discard(b)
		b.shell.Close()
		eventually(t, "the container has ended", func() bool {
			c, err := e.api.ContainerInspect(t.Context(), b.id)
			if err != nil {
				t.Fatal(err)
			}
			return !c.State.Running
		})
	})
}

// closed reports whether a channel is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
