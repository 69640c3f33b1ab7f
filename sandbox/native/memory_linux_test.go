//go:build amd64 || arm64

package native

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestChildOutOfMemory has a command get over the end of one of its processes,
// as it does on every driver. Version 2 of cgroups ends all of them.
func TestChildOutOfMemory(t *testing.T) {
	d := newDriver(t)
	if !slices.ContainsFunc(d.host.cgroups.parents, func(h hierarchy) bool {
		return !h.unified && slices.Contains(h.controllers, "memory")
	}) {
		t.Skip("SKIPPED: no cgroup of version 1 to limit memory with")
	}
	got := try(t, d, sandbox.Command{
		Argv:   []string{"bash", "-c", `python3 -c 'x = b"x" * (400 << 20)'; echo $?`},
		Limits: sandbox.Limits{Memory: 96 << 20},
	})
	if got.err != nil || got.code != 0 || got.stdout != "137\n" {
		t.Errorf("got %+v", got)
	}
}

// TestMemoryWithoutCgroup has commands exceed their limit by memory that a resource
// limit does not count, where no cgroup does.
func TestMemoryWithoutCgroup(t *testing.T) {
	const take = `
import ctypes, mmap, os, signal, time
def fill(m):
    for n in range(0, 400 << 20, 1 << 20):
        m[n:n + (1 << 20)] = b"x" * (1 << 20)
`
	for name, script := range map[string]string{
		"shared mapping": `fill(mmap.mmap(-1, 400 << 20))`,
		"shared mapping that another process wrote": `
m = mmap.mmap(-1, 400 << 20)
if os.fork() == 0:
    fill(m)
    os._exit(0)
os.wait()`,
		"file without a name": `
fd = os.memfd_create("x")
for n in range(400):
    os.write(fd, b"x" * (1 << 20))`,
		"file of a process that hides": `
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) # PR_SET_DUMPABLE
fd = os.memfd_create("x")
for n in range(400):
    os.write(fd, b"x" * (1 << 20))`,
		"many processes": `
for n in range(8):
    if os.fork() == 0:
        x = b"x" * (50 << 20)
        signal.pause()`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newWarmDriver(t, -1)
			useCgroups(t, d)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			got := tryContext(t, ctx, d, sandbox.Command{
				Argv:   []string{"python3", "-c", take + script + "\nsignal.pause()"},
				Limits: sandbox.Limits{Memory: 96 << 20},
			})
			wantMemoryLimit(t, got.err)
		})
	}
}

func wantMemoryLimit(t *testing.T, err error) {
	t.Helper()
	var limit *sandbox.LimitError
	if !errors.As(err, &limit) || limit.Limit != sandbox.LimitMemory {
		t.Errorf("it ended with %v, want the memory limit", err)
	}
}

// TestMemoryOfForks has processes share most of their memory, which counts once.
func TestMemoryOfForks(t *testing.T) {
	d := newWarmDriver(t, -1)
	useCgroups(t, d)
	got := try(t, d, sandbox.Command{
		Argv: []string{"python3", "-c", `
import os, time
x = b"x" * (60 << 20)
for n in range(8):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
for n in range(8):
    os.wait()
print("ended")`},
		Limits: sandbox.Limits{Memory: 192 << 20},
	})
	if got.err != nil || got.stdout != "ended\n" {
		t.Errorf("got %+v", got)
	}
}

// TestMemoryOfOthers has another program of the machine take shared memory meanwhile, which does
// not count.
func TestMemoryOfOthers(t *testing.T) {
	d := newWarmDriver(t, -1)
	useCgroups(t, d)
	got := try(t, d, sandbox.Command{
		Argv: []string{"bash", "-c", "sleep 0.5; echo ended"},
		Started: func() {
			shared, err := unix.Mmap(-1, 0, 256<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = unix.Munmap(shared) })
		},
		Limits: sandbox.Limits{Memory: 192 << 20},
	})
	if got.err != nil || got.stdout != "ended\n" {
		t.Errorf("got %+v", got)
	}
}

// TestMemoryOfKept ends a kept sandbox for the memory of a process that a command
// left running there.
func TestMemoryOfKept(t *testing.T) {
	d := newWarmDriver(t, -1)
	useCgroups(t, d)
	folder := openFolder(t)
	k, err := d.Open(t.Context(), &sandbox.Command{RunID: "test", Folder: folder, Limits: sandbox.Limits{Memory: 96 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, err = k.Run(ctx, &sandbox.Command{RunID: "test", Folder: folder, Stdout: io.Discard, Stderr: io.Discard,
		Argv: []string{"bash", "-c", `python3 -c 'import mmap; m = mmap.mmap(-1, 400 << 20); [m.write(b"x" * (1 << 20)) for n in range(400)]; import signal; signal.pause()' & sleep 600`}})
	wantMemoryLimit(t, err)
}

// TestEndedFirst wants the kernel to end sandboxes first when the host's memory
// runs out.
func TestEndedFirst(t *testing.T) {
	if got := bash(t, newDriver(t), `cat /proc/self/oom_score_adj`); got.stdout != "500\n" {
		t.Errorf("got %+v", got)
	}
}
