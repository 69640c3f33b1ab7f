//go:build amd64 || arm64

package native

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A recipe is the part of a command's grant and limits that a sandbox can be given
// before the command: its mounts and the limits of all its processes together. Two
// commands with equal recipes may have the same prepared sandbox, and no others.
type recipe struct {
	limits  sandbox.Limits // those that the setup or the cgroup has; others are zero
	mounts  []mount
	sources []inode // the folder of each mount, when the command came
}

// newRecipe returns the recipe of a grant, or nil for one that is applied only when its
// command comes: with hosts, whose proxy is the command's own; with write access, so
// that nothing that waits can write; and with a workspace below another, where a link
// may have been put in the place of a folder.
func newRecipe(grant sandbox.Grant, limits sandbox.Limits, mounts []mount, sources []inode) *recipe {
	if grant.Write || grant.Data != "" || len(grant.Hosts) > 0 || slices.ContainsFunc(mounts, func(m mount) bool { return m.Around != "" }) {
		return nil
	}
	return &recipe{
		limits:  sandbox.Limits{Memory: limits.Memory, CPUs: limits.CPUs, PIDs: limits.PIDs, Tmp: limits.Tmp},
		mounts:  mounts,
		sources: sources,
	}
}

func (r *recipe) equal(other *recipe) bool {
	return r.limits == other.limits && slices.Equal(r.mounts, other.mounts) && slices.Equal(r.sources, other.sources)
}

// shows reports whether the open trees are of the folders that the recipe names: a path
// may lead elsewhere by now.
func (r *recipe) shows(trees []int) bool {
	for i, tree := range trees {
		var stat unix.Stat_t
		if err := unix.Fstat(tree, &stat); err != nil || r.sources[i] != (inode{stat.Dev, stat.Ino}) {
			return false
		}
	}
	return true
}

// workspaces returns the recipe's workspaces without symbolic links. The skill's folder is
// none: it is a snapshot in the server's cache, below which nobody mounts anything.
func (r *recipe) workspaces() []string {
	var all []string
	for _, m := range r.mounts {
		if m.Target == sandbox.SkillDir {
			continue
		}
		path, err := filepath.EvalSymlinks(m.Source)
		if err != nil {
			path = m.Source // which opening it reports
		}
		all = append(all, path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A mountTable is the list of mounts that the server sees. The copy that a waiting
// sandbox has of a workspace's mounts is good for a command only while they are the same.
type mountTable struct {
	fd     int    // of /proc/self/mountinfo, -1 where that cannot be read
	text   []byte // empty where it cannot be read
	before []byte // the text before the last change, whose memory is used again
}

func openMountTable() *mountTable {
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	t := &mountTable{fd: fd}
	t.read()
	return t
}

// refresh reads the table if it has changed since, and reports whether it is another one:
// the kernel says by one system call that there was a change. To read the 37 lines of a
// machine with some containers takes 0.26 ms (under load), as the kernel composes them.
func (t *mountTable) refresh() bool {
	if t.fd < 0 {
		return false
	}
	polled := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLPRI}}
	if n, err := unix.Poll(polled, 0); n == 0 && err == nil {
		return false
	}
	t.read()
	return !bytes.Equal(t.text, t.before)
}

func (t *mountTable) read() {
	const room = 4 << 10 // bytes that the kernel returns at most at once
	text := t.before[:0]
	t.before, t.text = t.text, nil
	for {
		text = slices.Grow(text, room)
		n, err := unix.Pread(t.fd, text[len(text):cap(text)], int64(len(text)))
		if err != nil {
			return
		}
		if n == 0 {
			t.text = text
			return
		}
		text = text[:len(text)+n]
	}
}

// view returns the lines of the mounts that folders are in, and of those below them.
func (t *mountTable) view(folders []string) string {
	var lines strings.Builder
	for line := range bytes.Lines(t.text) {
		fields := bytes.SplitN(line, []byte(" "), 6)
		if len(fields) < 6 {
			continue
		}
		point := unescapeMount(string(fields[4]))
		if slices.ContainsFunc(folders, func(f string) bool { return below(f, point) || below(point, f) }) {
			lines.Write(line)
		}
	}
	return lines.String()
}

// unescapeMount undoes what mountinfo writes in place of blanks and backslashes.
func unescapeMount(path string) string {
	if !strings.Contains(path, `\`) {
		return path
	}
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// below reports whether a clean absolute path is a folder or in it.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	return ok && (rest == "" || rest[0] == os.PathSeparator)
}

func (t *mountTable) close() {
	if t.fd >= 0 {
		_ = unix.Close(t.fd)
	}
}
