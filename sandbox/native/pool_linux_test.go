//go:build amd64 || arm64

package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// processesOf returns the ids, as the host has them, of a zygote and its forks:
// all that is in its namespace of processes or one below.
func processesOf(z *zygote) (ids []int) {
	var walk func(pid int)
	walk = func(pid int) {
		ids = append(ids, pid)
		children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, path := range children {
			text, _ := os.ReadFile(path) // its process may have ended
			for _, child := range strings.Fields(string(text)) {
				if id, err := strconv.Atoi(child); err == nil {
					walk(id)
				}
			}
		}
	}
	walk(z.process.Pid)
	return ids
}

// TestSingleUse has more commands at once than there are sandboxes ready, each of
// which must find one that nobody has, or had.
func TestSingleUse(t *testing.T) {
	d := newDriver(t)
	const rounds, calls = 2, 2 * defaultWarm
	pids := 0
	for range rounds {
		namespaces := map[string]bool{}
		for _, stdout := range together(t, d, calls, `
			ls -A /tmp /out /dev/shm; touch /tmp/left /out/left /dev/shm/left
			for ns in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$ns; done
			sleep 600 & disown; echo $!`) {
			rest, fresh := strings.CutPrefix(stdout, "/dev/shm:\n\n/out:\n\n/tmp:\n")
			if !fresh || strings.Count(rest, "\n") != 8 {
				t.Errorf("not fresh: %q", stdout)
			}
			for line := range strings.Lines(rest) {
				if !strings.Contains(line, ":[") {
					pids++
					continue
				}
				if namespaces[line] {
					t.Errorf("two sandboxes share %s", line)
				}
				namespaces[line] = true
			}
		}
	}
	if pids != rounds*calls {
		t.Errorf("%d commands had an own process", pids)
	}
}

// together runs a script in several sandboxes, none of which ends before each
// has written all it has to.
func together(t *testing.T, d *Driver, calls int, script string) (stdouts []string) {
	t.Helper()
	var written, ended sync.WaitGroup
	written.Add(calls)
	outputs := make(chan string, calls)
	folder := openFolder(t)
	var readers []io.Closer
	for range calls {
		reader, writer := io.Pipe()
		readers = append(readers, writer)
		ended.Go(func() {
			var stdout strings.Builder
			done := sync.OnceFunc(written.Done)
			defer done() // where it fails
			exit, err := d.Run(t.Context(), &sandbox.Command{
				RunID: "together", Folder: folder, Stdin: reader,
				Argv: []string{"bash", "-c", script + "; echo end; read; true"},
				Stdout: writerFunc(func(p []byte) (int, error) {
					if stdout.Write(p); strings.HasSuffix(stdout.String(), "end\n") {
						done()
					}
					return len(p), nil
				}),
			})
			if err != nil || exit.Code != 0 {
				t.Errorf("exit %+v, error %v", exit, err)
			}
			outputs <- strings.TrimSuffix(stdout.String(), "end\n")
		})
	}
	written.Wait()
	for _, r := range readers {
		_ = r.Close()
	}
	ended.Wait()
	for range calls {
		stdouts = append(stdouts, <-outputs)
	}
	return stdouts
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestNothingBeforeTheFirst wants a driver to start no process, and to open
// nothing, before its first command.
func TestNothingBeforeTheFirst(t *testing.T) {
	if err := newDriver(t).Close(); err != nil {
		t.Fatal(err)
	}
	before := descriptors(t)
	d := New(nil)
	if d.pool != nil || !slices.Equal(before, descriptors(t)) {
		t.Error("a new driver has something")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestPoolIsFilled wants as many sandboxes ready as are to be, and one prepared for each
// kind of the last commands.
func TestPoolIsFilled(t *testing.T) {
	d := newDriver(t)
	for range defaultWarm + 2 {
		if got := bash(t, d, `echo ran`); got.stdout != "ran\n" { // each in a folder of its own
			t.Fatalf("got %+v", got)
		}
		awaitRefill(d.pool)
	}
	const threads = 1
	ids := processesOf(d.pool.zygote)
	if len(ids) != 1+2*defaultWarm {
		t.Errorf("%d processes with %d sandboxes ready, and as many prepared", len(ids), defaultWarm)
	}
	for _, id := range ids[1:] {
		if tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", id)); err != nil || len(tasks) != threads {
			t.Errorf("an init has %d threads, %v", len(tasks), err)
		}
	}
	if got := try(t, d, sandbox.Command{Argv: []string{"true"}, Warm: -1}); got.err != nil {
		t.Error(got.err)
	}
	d.pool.work.Wait()
	if got := len(processesOf(d.pool.zygote)); got != 2*defaultWarm {
		t.Errorf("%d processes after a command that wants none ready", got)
	}
}

// TestExpired drops what has not been used for some time, and not what is.
func TestExpired(t *testing.T) {
	d := newDriver(t)
	started, end := make(chan struct{}), make(chan struct{})
	ended := make(chan outcome)
	go func() {
		reader, writer := io.Pipe()
		go func() { <-end; _ = writer.Close() }()
		ended <- try(t, d, sandbox.Command{Argv: []string{"bash", "-c", "cat; echo whole"}, Stdin: reader, Warm: -1, Started: func() { close(started) }})
	}()
	<-started
	d.pool.fill(nil)
	awaitRefill(d.pool)
	d.pool.expire()
	if len(d.pool.idle) != 0 || d.pool.zygote == nil {
		t.Errorf("while a command runs: %d ready, zygote %v", len(d.pool.idle), d.pool.zygote)
	}
	close(end)
	if got := <-ended; got.stdout != "whole\n" {
		t.Errorf("got %+v", got)
	}
	d.pool.work.Wait()
	z := d.pool.zygote
	d.pool.expire()
	d.pool.work.Wait()
	if d.pool.zygote != nil || !errors.Is(unix.Kill(z.process.Pid, 0), unix.ESRCH) {
		t.Error("the zygote is still there")
	}
	if got := bash(t, d, `echo ran`); got.stdout != "ran\n" { // starts another
		t.Errorf("got %+v", got)
	}
}

// TestKilledWhileReady kills what waits for commands: the commands must not
// notice.
func TestKilledWhileReady(t *testing.T) {
	for name, victims := range map[string]func(ids []int) []int{
		"an init":    func(ids []int) []int { return ids[1:2] },
		"all inits":  func(ids []int) []int { return ids[1:] },
		"the zygote": func(ids []int) []int { return ids[:1] },
		"everything": func(ids []int) []int { return ids },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t)
			bash(t, d, `true`)
			awaitRefill(d.pool)
			for _, id := range victims(processesOf(d.pool.zygote)) {
				if err := unix.Kill(id, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
					t.Fatal(err)
				}
				awaitEnd(t, id)
			}
			for range 2 * defaultWarm {
				if got := bash(t, d, `echo ran`); got.stdout != "ran\n" || got.err != nil {
					t.Fatalf("got %+v", got)
				}
			}
		})
	}
}

// awaitEnd returns when a process has ended.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 30_000)
		if n == 1 {
			return
		}
		if !errors.Is(err, unix.EINTR) {
			t.Fatalf("process %d has not ended: %v", pid, err)
		}
	}
}

// TestReadyEndWithServer kills a server that has sandboxes ready.
func TestReadyEndWithServer(t *testing.T) {
	newDriver(t)
	server := exec.Command("/proc/self/exe")
	server.Env = append(os.Environ(), serverReady+"=1")
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(string(line[:n]))
	if len(ids) != 1+defaultWarm+1 { // one is prepared
		t.Errorf("processes %q", ids)
	}
	for _, text := range ids {
		id, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, id)
	}
	_ = server.Wait()
	deadline := time.Now().Add(5 * time.Minute)
	for leftOf(t, server.Process.Pid) > 0 { // each look sweeps
		if time.Now().After(deadline) {
			t.Fatal("cgroups are left")
		}
	}
}

// serverReady makes the test binary a server that has sandboxes ready until it is
// killed, and writes the ids of its processes.
const serverReady = "SKILLS_MCP_TEST_SERVER_READY"

func serveReady() {
	d := New(nil)
	if _, err := d.Run(context.Background(), &sandbox.Command{RunID: "ready", Argv: []string{"true"}, Folder: "/usr"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	awaitRefill(d.pool)
	fmt.Println(strings.Trim(fmt.Sprint(processesOf(d.pool.zygote)), "[]"))
	select {}
}
