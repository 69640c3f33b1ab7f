//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// groupPrefix begins the names of our cgroups; the server's process id and a
	// number follow.
	groupPrefix = "skills-mcp-"
	// initThreads is how many processes the init may be beside the command's.
	// The command's own limit is RLIMIT_NPROC, which is exact; this one is behind
	// it.
	initThreads = 16
	// cpuPeriod is the kernel's default, in microseconds.
	cpuPeriod = 100_000
)

// cgroups makes a cgroup for each run, in folders that are the server's to write
// to.
type cgroups struct {
	parents []hierarchy
	log     *slog.Logger
	last    atomic.Int64 // number of the last cgroup
}

// A hierarchy is a folder that cgroups can be made in, and the controllers they
// have there.
type hierarchy struct {
	folder      string
	unified     bool     // version 2
	controllers []string // of memory, pids and cpu
}

// A cgroup is that of one run: a folder in each hierarchy, or none at all where
// the server may not make any.
type cgroup struct {
	folders []hierarchy // what was made
	log     *slog.Logger
	dir     *os.File // the unified folder, open for the clone; nil otherwise
}

// create makes a cgroup with limits. Where that fails the run goes without, as
// it would where there are no cgroups, and the log says so.
func (c *cgroups) create(limits sandbox.Limits) *cgroup {
	g := &cgroup{log: c.log}
	name := fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), c.last.Add(1))
	for _, parent := range c.parents {
		own := hierarchy{filepath.Join(parent.folder, name), parent.unified, parent.controllers}
		if err := g.make(own, limits); err != nil {
			c.log.Warn("cannot limit a sandbox by its cgroup", "folder", own.folder, "error", err)
		}
	}
	return g
}

func (g *cgroup) make(own hierarchy, limits sandbox.Limits) error {
	_ = os.Remove(own.folder) // of a process that had our id
	if err := os.Mkdir(own.folder, 0o755); err != nil {
		return err
	}
	for _, s := range own.settings(limits) {
		err := set(own.folder, s.file, s.value)
		if err != nil && !(s.optional && errors.Is(err, fs.ErrNotExist)) {
			return errors.Join(err, os.Remove(own.folder))
		}
	}
	if own.unified {
		dir, err := os.Open(own.folder)
		if err != nil {
			return errors.Join(err, os.Remove(own.folder))
		}
		g.dir = dir
	}
	g.folders = append(g.folders, own)
	return nil
}

// A setting is a value for one of a cgroup's files.
type setting struct {
	file, value string
	optional    bool // not on every kernel
}

func (h *hierarchy) settings(limits sandbox.Limits) []setting {
	memory := strconv.FormatInt(limits.Memory, 10)
	processes := strconv.FormatInt(limits.PIDs+initThreads, 10)
	quota := strconv.FormatInt(max(int64(limits.CPUs*cpuPeriod), 1000), 10)
	period := strconv.Itoa(cpuPeriod)
	settings := map[string][]setting{
		"memory": {
			{file: "memory.max", value: memory},
			{file: "memory.swap.max", value: "0", optional: true},
			{file: "memory.oom.group", value: "1", optional: true},
		},
		"pids": {{file: "pids.max", value: processes}},
		"cpu":  {{file: "cpu.max", value: quota + " " + period}},
	}
	if !h.unified {
		settings["memory"] = []setting{
			{file: "memory.limit_in_bytes", value: memory},
			{file: "memory.memsw.limit_in_bytes", value: memory, optional: true},
		}
		settings["cpu"] = []setting{
			{file: "cpu.cfs_period_us", value: period},
			{file: "cpu.cfs_quota_us", value: quota},
		}
	}
	var all []setting
	for _, controller := range h.controllers {
		all = append(all, settings[controller]...)
	}
	return all
}

// start calls start with the attributes that make the process start in the
// cgroup, on the thread of the caller, which must be locked to it.
//
// Version 2 starts it there. For version 1 the thread itself goes in and out
// again, which is much quicker than to move a process: only that waits for all
// processors.
func (g *cgroup) start(attributes *syscall.SysProcAttr, start func() error) error {
	g.enter()
	defer g.leave()
	if g.dir == nil {
		return start()
	}
	attributes.UseCgroupFD, attributes.CgroupFD = true, int(g.dir.Fd())
	refusal := start()
	if refusal == nil {
		return nil
	}
	attributes.UseCgroupFD = false
	if err := start(); err != nil {
		return err
	}
	g.forgo(refusal, func(own hierarchy) bool { return own.unified })
	return nil
}

// forgo goes without the folders that refused the process.
func (g *cgroup) forgo(refusal error, refused func(own hierarchy) bool) {
	g.folders = slices.DeleteFunc(g.folders, func(own hierarchy) bool {
		if !refused(own) {
			return false
		}
		g.log.Warn("cannot limit a sandbox by its cgroup", "folder", own.folder, "error", refusal)
		_ = os.Remove(own.folder)
		return true
	})
}

// enter takes the thread into the folders of version 1, and forgoes those that
// refuse it, as the cpu controller does a real-time thread.
func (g *cgroup) enter() {
	for _, own := range slices.Clone(g.folders) {
		if own.unified {
			continue
		}
		if err := moveThread(own.folder); err != nil {
			g.forgo(err, func(other hierarchy) bool { return other.folder == own.folder })
		}
	}
}

func (g *cgroup) leave() {
	for _, own := range g.folders {
		if own.unified {
			continue
		}
		if err := moveThread(filepath.Dir(own.folder)); err != nil {
			g.log.Warn("cannot take a thread out of a sandbox's cgroup", "folder", own.folder, "error", err)
		}
	}
}

func moveThread(folder string) error {
	const caller = "0"
	return set(folder, "tasks", caller)
}

// set writes one of a cgroup's files. It does not ask for one to be made, which
// is refused with another error than that there is none.
func set(folder, file, value string) error {
	f, err := os.OpenFile(filepath.Join(folder, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func (g *cgroup) memory() *hierarchy {
	for i := range g.folders {
		for _, controller := range g.folders[i].controllers {
			if controller == "memory" {
				return &g.folders[i]
			}
		}
	}
	return nil
}

// boundsMemory reports whether there is a limit for all processes together.
func (g *cgroup) boundsMemory() bool { return g.memory() != nil }

// ranOutOfMemory reports whether the kernel killed a process at that limit.
func (g *cgroup) ranOutOfMemory() bool {
	own := g.memory()
	if own == nil {
		return false
	}
	file := "memory.oom_control"
	if own.unified {
		file = "memory.events"
	}
	text, err := os.ReadFile(filepath.Join(own.folder, file))
	if err != nil {
		return false
	}
	return counter(string(text), "oom_kill") > 0
}

// counter returns the value of "key value" lines, 0 when the key is not there.
func counter(text, key string) int64 {
	for line := range strings.Lines(text) {
		if k, v, _ := strings.Cut(strings.TrimSpace(line), " "); k == key {
			n, _ := strconv.ParseInt(v, 10, 64)
			return n
		}
	}
	return 0
}

// remove removes the cgroup, whose processes have ended. The kernel may take a
// moment to notice.
func (g *cgroup) remove() {
	if g.dir != nil {
		_ = g.dir.Close()
	}
	for _, own := range g.folders {
		err := os.Remove(own.folder)
		for wait := time.Millisecond; errors.Is(err, unix.EBUSY) && wait < time.Second; wait *= 2 {
			time.Sleep(wait)
			err = os.Remove(own.folder)
		}
		if err != nil {
			g.log.Warn("cannot remove a sandbox's cgroup; the next start will", "folder", own.folder, "error", err)
		}
	}
}
