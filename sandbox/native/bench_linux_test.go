//go:build amd64 || arm64

package native

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// BenchmarkOne compares one "bash run.sh" in a sandbox that is ready, in one
// that has to be started, and on the host, which no sandbox can beat.
func BenchmarkOne(b *testing.B) {
	contend(b, func(b *testing.B, ready func(), run func() error) {
		var times []time.Duration
		for b.Loop() {
			ready()
			begin := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(begin))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "p95-µs")
	})
}

// BenchmarkSustained has eight callers without a pause.
func BenchmarkSustained(b *testing.B) {
	contend(b, func(b *testing.B, _ func(), run func() error) {
		const callers = 8
		calls := make(chan bool)
		var work sync.WaitGroup
		for range callers {
			work.Go(func() {
				for range calls {
					if err := run(); err != nil {
						b.Error(err)
					}
				}
			})
		}
		begin := time.Now()
		for b.Loop() {
			calls <- true
		}
		close(calls)
		work.Wait()
		b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "calls/s")
	})
}

// contend runs a benchmark for each contender.
func contend(b *testing.B, bench func(b *testing.B, ready func(), run func() error)) {
	folder := openFolder(b)
	script := filepath.Join(folder, "run.sh")
	if err := os.WriteFile(script, []byte("echo hello\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	native := func(warm int) func(b *testing.B) {
		return func(b *testing.B) {
			d := newWarmDriver(b, warm)
			bench(b, func() { awaitRefill(d.pool) }, func() error {
				_, err := d.Run(b.Context(), &sandbox.Command{RunID: "bench", Argv: []string{"bash", "run.sh"}, Folder: folder, Stdout: io.Discard, Stderr: io.Discard})
				return err
			})
		}
	}
	program := func(argv ...string) func(b *testing.B) {
		return func(b *testing.B) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				b.Skip(err)
			}
			bench(b, func() {}, func() error {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Stdout, cmd.Stderr = struct{ io.Writer }{io.Discard}, struct{ io.Writer }{io.Discard}
				return cmd.Run()
			})
		}
	}
	b.Run("bare", program("bash", script))
	b.Run("ready", native(0))
	b.Run("started", native(-1))
	b.Run("bubblewrap", program("bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", folder, "/skill", "--chdir", "/skill", "bash", "run.sh"))
}

// awaitRefill returns when as many sandboxes are ready as are to be, and those that
// were used have gone.
func awaitRefill(p *pool) { p.work.Wait() }

// BenchmarkInit compares, in turns, the time to make an init ready: the zygote's
// fork, which does not use Go's runtime, with the plain way, this program
// executed again in new namespaces. Both make the same system calls; the plain
// one attaches the host's folders for itself.
func BenchmarkInit(b *testing.B) {
	d := newWarmDriver(b, -1)
	p, err := d.detect()
	if err != nil {
		b.Fatal(err)
	}
	timed := map[string][]time.Duration{}
	for b.Loop() {
		for name, start := range map[string]func() (*instance, error){
			"forked": func() (*instance, error) { return p.start(p.limits) },
			"plain":  func() (*instance, error) { return startPlainInit(p.host) },
		} {
			began := time.Now()
			one, err := start()
			if err != nil {
				b.Fatal(name, err)
			}
			timed[name] = append(timed[name], time.Since(began))
			one.close()
		}
	}
	for name, times := range timed {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), name+"-p50-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkZygote measures a zygote's start, which is part of the first call after
// some minutes without one, and one request to it.
func BenchmarkZygote(b *testing.B) {
	d := newWarmDriver(b, -1)
	p, err := d.detect()
	if err != nil {
		b.Fatal(err)
	}
	var starts, requests []time.Duration
	for b.Loop() {
		began := time.Now()
		z, err := startZygote(p.host)
		if err != nil {
			b.Fatal(err)
		}
		starts = append(starts, time.Since(began))
		for range 20 {
			began = time.Now()
			trees, err := z.open([]mount{{Source: "/usr/share", Target: "/skill"}})
			if err != nil {
				b.Fatal(err)
			}
			requests = append(requests, time.Since(began))
			closeAll(trees)
		}
		z.close()
	}
	slices.Sort(starts)
	slices.Sort(requests)
	b.ReportMetric(float64(starts[len(starts)/2].Microseconds()), "start-p50-µs")
	b.ReportMetric(float64(requests[len(requests)/2].Nanoseconds())/1000, "request-p50-µs")
	b.ReportMetric(0, "ns/op")
}

// plainInitName is argv[0] of the plain way's init.
const plainInitName = "skills-mcp: plain init"

// startPlainInit executes this program as an init and waits until it is ready.
func startPlainInit(h *host) (*instance, error) {
	server, theirs, err := newSocketPair()
	if err != nil {
		return nil, err
	}
	uids, gids := h.user.mappings()
	pidfd := -1
	cmd := exec.Command(h.program.path)
	cmd.Args, cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{plainInitName}, []string{"GOMAXPROCS=1"}, "/", []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: uids, GidMappings: gids, PidFD: &pidfd,
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_NET_ADMIN},
	}
	if h.user.changes {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(h.user.uid), Gid: uint32(h.user.gid)}
		cmd.SysProcAttr.GidMappingsEnableSetgroups = true
	}
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		server.close()
		return nil, err
	}
	go func() { _ = cmd.Wait() }()
	if err := newMessenger(server).send(&zygoteConfig{Layout: *h.layout, Generic: h.generic.pack(nil, kindGeneric)}, nil); err != nil {
		return nil, err
	}
	one := &instance{socket: server, group: h.cgroups.acquire(sandbox.DefaultLimits())}
	if one.pidfd, one.raw, err = pollable(pidfd, "init"); err != nil {
		return nil, err
	}
	return one, one.awaitReady(h.generic)
}

// plainInit is the plain way's init until it is ready. It then waits for its end.
func plainInit() {
	runtime.LockOSThread()
	server := &socket{file: os.NewFile(initControl, "server")}
	var err error
	if server.raw, err = server.file.SyscallConn(); err != nil {
		panic(err)
	}
	var first zygoteConfig
	if _, err := newMessenger(server).receive(&first); err != nil {
		panic(err)
	}
	if err := buildTemplate(&first.Layout); err != nil {
		panic(err)
	}
	n, err := newInitProcess(first.Generic)
	if err != nil {
		panic(err)
	}
	n.setUp(n.generic)
	_, _ = unix.Poll([]unix.PollFd{{Fd: initControl, Events: unix.POLLHUP}}, -1)
	os.Exit(0)
}
