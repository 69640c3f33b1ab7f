package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// traced calls f while strace writes the system calls of a server to a file, which
// it returns open. The caller closes it.
func (p *process) traced(ctx context.Context, file string, f func() error) (_ *os.File, err error) {
	// Not in the server's home, whose files it watches.
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	// The command is behind some kilobytes of the sandbox's setup.
	strace := exec.Command("strace", "-f", "-qq", "-s", "65536", "-e", "signal=none", "-o", file, "-p", fmt.Sprint(p.cmd.Process.Pid))
	strace.Stderr = &stderr
	if err := strace.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- strace.Wait() }()
	err = p.awaitTracer(ctx, ended)
	if err == nil {
		err = f()
	}
	_ = strace.Process.Signal(os.Interrupt) // strace detaches
	if wait := <-ended; err != nil {
		return nil, errors.Join(err, wait, errors.New(stderr.String()))
	}
	return os.Open(file)
}

// awaitTracer waits until all threads of the server are traced. ended receives the
// tracer's end, which awaitTracer puts back.
func (p *process) awaitTracer(ctx context.Context, ended chan error) error {
	for range patience / poll {
		threads := threadFiles(p.cmd.Process.Pid, "status")
		if !slices.ContainsFunc(threads, func(status string) bool { return strings.Contains(status, "TracerPid:\t0\n") }) {
			return nil
		}
		select {
		case err := <-ended:
			ended <- err
			return errors.New("strace cannot trace the server")
		case <-time.After(poll):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("strace has not begun after %v", patience)
}

// systemCalls counts the system calls by name in strace's output, from the end of
// each read of a call's request to the beginning of the write of its command, both
// not included. Only a command has the variable SKILL_RUN_ID.
func systemCalls(output io.Reader) (calls []map[string]int, err error) {
	var counts map[string]int // of the call whose command was not sent yet, or nil
	begin := regexp.MustCompile(`^\d+ +(\w+)\(`)
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return calls, nil
		}
		if err != nil {
			return nil, err
		}
		name := begin.FindStringSubmatch(line)
		switch {
		case strings.Contains(line, `\"tools/call\"`) && (name == nil || name[1] == "read"):
			counts = map[string]int{}
		case counts == nil || name == nil:
		case strings.Contains(line, "SKILL_RUN_ID="):
			calls, counts = append(calls, counts), nil
		default:
			counts[name[1]]++
		}
	}
}

// callGroups are groups of system calls. Those of Go's scheduler wait for others
// or watch them: their number grows with the time that strace itself costs.
func callGroups() []callGroup {
	return []callGroup{
		{"scheduler", []string{"nanosleep", "futex", "epoll_pwait", "sched_yield", "getpid", "tgkill", "rt_sigreturn", "rt_sigprocmask", "sched_getaffinity", "pread64"}},
		{"memory", []string{"mmap", "munmap", "madvise", "mprotect", "brk"}},
		{"files", []string{"openat", "openat2", "close", "fstat", "newfstatat", "statx", "getdents64", "readlinkat", "read", "lseek", "fcntl", "ioctl", "utimensat", "faccessat", "faccessat2"}},
		{"other", nil},
	}
}

type callGroup struct {
	name  string
	calls []string // nil for all further ones
}

// groupOf returns the name of a system call's group.
func groupOf(call string) string {
	for _, g := range callGroups() {
		if slices.Contains(g.calls, call) || g.calls == nil {
			return g.name
		}
	}
	return ""
}

// addSystemCalls adds the number of each system call, and the sums.
func (r *result) addSystemCalls(calls []map[string]int) {
	names := map[string][]float64{}
	for i, counts := range calls {
		all, scheduler := 0, 0
		for name, n := range counts {
			if names[name] == nil {
				names[name] = make([]float64, len(calls))
			}
			names[name][i] = float64(n)
			all += n
			if groupOf(name) == callGroups()[0].name {
				scheduler += n
			}
		}
		r.add("all but the scheduler's", float64(all-scheduler))
		r.add("all", float64(all))
	}
	for _, g := range callGroups() {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if median := percentile(names[name], 50); groupOf(name) == g.name && median > 0 {
				r.set(g.name+": "+name, median)
			}
		}
	}
}
