//go:build amd64 || arm64

package native

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// wantedControllers are those that limits are set with.
var wantedControllers = [...]string{"memory", "pids", "cpu"}

// findCgroups returns where the server may make cgroups, and clears away those
// of servers that were killed.
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
	// Moving a process takes the right to do so at the common ancestor.
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
	for folder := point.folder(path); within(folder, point.path); folder = filepath.Dir(folder) {
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

// folder returns where the cgroup at path is seen, "" when it is not.
func (p mountPoint) folder(path string) string {
	if path == "" || !within(path, p.root) {
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
