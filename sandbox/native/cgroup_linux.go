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
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// groupPrefix begins the names of our cgroups; the server's process id and a
	// number follow.
	groupPrefix = "skills-mcp-"
	// initProcesses is the number of processes beside the command's.
	initProcesses = 1
	// cpuPeriod is the kernel's default, in microseconds.
	cpuPeriod = 100_000
	// spareGroups bounds the empty cgroups for later sandboxes.
	spareGroups = 16
)

// cgroups makes a cgroup for each sandbox, in folders that the server may write
// to. To make one takes longer than all else about a sandbox's memory, so empty
// ones are used again.
type cgroups struct {
	parents []hierarchy
	log     *slog.Logger
	last    atomic.Int64 // number of the last cgroup

	mu     sync.Mutex
	spare  []*cgroup // empty
	closed bool
}

// A hierarchy is a folder that cgroups can be made in, and the controllers they
// have there.
type hierarchy struct {
	folder      string
	unified     bool     // version 2
	controllers []string // of memory, pids and cpu
}

// entry returns the file that a process without threads writes "0" to, to
// enter. To move any other process is much slower where there is another file.
func (h *hierarchy) entry() string {
	if h.unified {
		return "cgroup.procs"
	}
	return "tasks"
}

// A cgroup bounds one sandbox: a folder in each hierarchy, or none where the
// server may not make any.
type cgroup struct {
	owner   *cgroups
	folders []cgroupFolder // those that were made
	limits  sandbox.Limits // that are set
	kills   int64          // by the kernel, for memory, that are known of
	refused bool           // a folder was refused, so this is not used again
}

// A cgroupFolder is one folder of a cgroup.
type cgroupFolder struct {
	hierarchy
	entry int // its open entry file
}

// acquire returns an empty cgroup with limits. Where that fails the sandbox goes
// without, as it would where there are no cgroups, and the log says so.
func (c *cgroups) acquire(limits sandbox.Limits) *cgroup {
	g := c.popSpare()
	if g == nil {
		g = c.create()
	}
	g.limit(limits)
	return g
}

func (c *cgroups) popSpare() *cgroup {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spare) == 0 {
		return nil
	}
	g := c.spare[len(c.spare)-1]
	c.spare = c.spare[:len(c.spare)-1]
	return g
}

func (c *cgroups) create() *cgroup {
	g := &cgroup{owner: c}
	number := c.last.Add(1)
	for i, parent := range c.parents {
		own := parent
		err := fs.ErrExist
		for errors.Is(err, fs.ErrExist) {
			own.folder = filepath.Join(parent.folder, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), number))
			if err = g.make(own); i > 0 { // the name is ours
				break
			}
			if errors.Is(err, fs.ErrExist) { // another driver's, or of a process that had our id
				number = c.last.Add(1)
			}
		}
		if err != nil {
			c.log.Warn("cannot limit a sandbox by its cgroup", "folder", own.folder, "error", err)
		}
	}
	return g
}

func (g *cgroup) make(own hierarchy) error {
	if err := os.Mkdir(own.folder, 0o755); err != nil {
		return err
	}
	entry, err := unix.Open(filepath.Join(own.folder, own.entry()), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return errors.Join(err, os.Remove(own.folder))
	}
	g.folders = append(g.folders, cgroupFolder{own, entry})
	return nil
}

// limit sets limits that are not set yet. It disables folders that refuse them.
func (g *cgroup) limit(limits sandbox.Limits) {
	limits = sandbox.Limits{Memory: limits.Memory, PIDs: limits.PIDs, CPUs: limits.CPUs}
	if limits == g.limits {
		return
	}
	g.limits = limits
	for i := len(g.folders) - 1; i >= 0; i-- {
		if err := g.folders[i].set(limits); err != nil {
			g.disableFolder(i, err)
		}
	}
}

func (h *hierarchy) set(limits sandbox.Limits) error {
	for _, s := range h.settings(limits) {
		err := set(h.folder, s.file, s.value)
		if err != nil && !(s.optional && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// files returns the open entry files.
func (g *cgroup) files() []int {
	var entries []int
	for _, f := range g.folders {
		entries = append(entries, f.entry)
	}
	return entries
}

// disableFolder stops using a folder that refused a process, as the cpu
// controller refuses a real-time one, or its limits.
func (g *cgroup) disableFolder(index int, refusal error) {
	if index >= len(g.folders) {
		return
	}
	f := g.folders[index]
	f.controllers = nil
	g.folders[index] = f // there until release, as processes may be in it
	g.refused = true
	g.owner.log.Warn("cannot limit a sandbox by its cgroup", "folder", f.folder, "error", refusal)
}

// A setting is a value for one of a cgroup's files.
type setting struct {
	file, value string
	optional    bool // not on every kernel
}

func (h *hierarchy) settings(limits sandbox.Limits) []setting {
	memory := strconv.FormatInt(limits.Memory, 10)
	processes := strconv.FormatInt(limits.PIDs+initProcesses, 10)
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
			// The second is never to be below the first.
			{file: "memory.memsw.limit_in_bytes", value: "-1", optional: true},
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
		if slices.Contains(g.folders[i].controllers, "memory") {
			return &g.folders[i].hierarchy
		}
	}
	return nil
}

// boundsMemory reports whether there is a limit for all processes together.
func (g *cgroup) boundsMemory() bool { return g.memory() != nil }

// ranOutOfMemory reports whether the kernel killed a process at that limit since
// it was last asked.
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
	before := g.kills
	g.kills = counter(string(text), "oom_kill")
	return g.kills > before
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

// release returns a cgroup whose processes have ended.
func (g *cgroup) release() {
	g.ranOutOfMemory() // kills of this sandbox do not count for the next
	if !g.owner.putSpare(g) {
		g.remove()
	}
}

// putSpare stores an empty cgroup for another sandbox, and reports whether it
// did.
func (c *cgroups) putSpare(g *cgroup) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || g.refused || len(g.folders) < len(c.parents) || len(c.spare) == spareGroups || !g.empty() {
		return false
	}
	c.spare = append(c.spare, g)
	return true
}

// empty reports whether no process is in the cgroup: one that is in any folder is
// in each.
func (g *cgroup) empty() bool {
	if len(g.folders) == 0 {
		return true
	}
	processes, err := os.ReadFile(filepath.Join(g.folders[0].folder, "cgroup.procs"))
	return err == nil && len(processes) == 0
}

// close removes the spare cgroups; release removes the others.
func (c *cgroups) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, g := range c.spare {
		g.remove()
	}
	c.spare = nil
}

// remove removes a cgroup whose processes have ended. The kernel may take a
// moment to notice.
func (g *cgroup) remove() {
	for _, f := range g.folders {
		_ = unix.Close(f.entry)
		err := os.Remove(f.folder)
		for wait := time.Millisecond; errors.Is(err, unix.EBUSY) && wait < time.Second; wait *= 2 {
			time.Sleep(wait)
			err = os.Remove(f.folder)
		}
		if err != nil {
			g.owner.log.Warn("cannot remove a sandbox's cgroup; the next start will", "folder", f.folder, "error", err)
		}
	}
}

// wantedControllers names the controllers of the limits.
var wantedControllers = [...]string{"memory", "pids", "cpu"}

// findCgroups returns the folders where the server may make cgroups. It removes
// the cgroups of killed servers.
func findCgroups(log *slog.Logger) *cgroups {
	c := &cgroups{log: log}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	own, _ := os.ReadFile("/proc/self/cgroup")
	points, paths := cgroupMounts(string(mounts)), cgroupPaths(string(own))
	for _, controller := range wantedControllers {
		if point, ok := points[controller]; ok {
			c.offer(point.folder(paths[controller]), false, controller)
		}
	}
	if point, ok := points[""]; ok {
		c.offerUnified(point, paths[""])
	}
	for _, parent := range c.parents {
		sweep(parent.folder)
	}
	return c
}

// controllers returns those that limits can be set with here.
func (c *cgroups) controllers() []string {
	var all []string
	for _, parent := range c.parents {
		all = append(all, parent.controllers...)
	}
	return all
}

// offer adds a folder with one controller if the server may use it.
func (c *cgroups) offer(folder string, unified bool, controller string) {
	if folder == "" || unix.Access(folder, unix.W_OK) != nil {
		return
	}
	// To move a process needs write access at the common ancestor.
	if unix.Access(filepath.Join(folder, "cgroup.procs"), unix.W_OK) != nil {
		return
	}
	for i := range c.parents {
		if c.parents[i].folder == folder {
			c.parents[i].controllers = append(c.parents[i].controllers, controller)
			return
		}
	}
	c.parents = append(c.parents, hierarchy{folder, unified, []string{controller}})
}

// offerUnified adds the nearest cgroup at or above the server's own that gives
// its children a memory controller and is the server's to write to: on a desktop
// the user's app.slice. The own one rarely can, as one with processes in it has
// no children with controllers.
func (c *cgroups) offerUnified(point mountPoint, path string) {
	for folder := point.folder(path); sandbox.Within(folder, point.path); folder = filepath.Dir(folder) {
		enabled, err := os.ReadFile(filepath.Join(folder, "cgroup.subtree_control"))
		controllers := strings.Fields(string(enabled))
		if err == nil && slices.Contains(controllers, "memory") {
			for _, controller := range wantedControllers {
				if slices.Contains(controllers, controller) {
					c.offer(folder, true, controller)
				}
			}
			if len(c.parents) > 0 {
				return
			}
		}
	}
}

// A mountPoint is where a hierarchy is mounted.
type mountPoint struct {
	root string // the cgroup that is seen there
	path string
}

// folder returns where the cgroup at path is seen, "" when it is not: a root that begins
// with "/.." is outside of the server's cgroup namespace.
func (p mountPoint) folder(path string) string {
	if path == "" || strings.HasPrefix(p.root, "/..") || !sandbox.Within(path, p.root) {
		return ""
	}
	return filepath.Join(p.path, strings.TrimPrefix(path, p.root))
}

// cgroupMounts reads mountinfo, see proc(5), and returns the mount points of
// controllers; that of version 2 is under "".
func cgroupMounts(mountinfo string) map[string]mountPoint {
	points := map[string]mountPoint{}
	for line := range strings.Lines(mountinfo) {
		before, after, found := strings.Cut(line, " - ")
		fields, source := strings.Fields(before), strings.Fields(after)
		if !found || len(fields) < 5 || len(source) < 3 {
			continue
		}
		point := mountPoint{root: fields[3], path: fields[4]}
		switch source[0] {
		case "cgroup2":
			points[""] = point
		case "cgroup":
			for option := range strings.SplitSeq(source[2], ",") {
				points[option] = point
			}
		}
	}
	return points
}

// cgroupPaths reads /proc/self/cgroup, see cgroups(7), and returns the cgroup of
// each controller; that of version 2 is under "".
func cgroupPaths(text string) map[string]string {
	paths := map[string]string{}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			paths[controller] = fields[2]
		}
	}
	return paths
}

// sweep removes empty cgroups of servers that do not live any more.
func sweep(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		rest, ours := strings.CutPrefix(entry.Name(), groupPrefix)
		text, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(text)
		if !ours || err != nil || !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			continue
		}
		_ = os.Remove(filepath.Join(folder, entry.Name())) // refused unless empty
	}
}
