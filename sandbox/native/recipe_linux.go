//go:build amd64 || arm64

package native

import (
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
	if grant.Write || len(grant.Hosts) > 0 || slices.ContainsFunc(mounts, func(m mount) bool { return m.Around != "" }) {
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

// folders returns the recipe's folders without symbolic links.
func (r *recipe) folders() []string {
	var all []string
	for _, m := range r.mounts {
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
// sandbox has of a folder's mounts is good for a command only while they are the same.
type mountTable struct {
	fd   int // of /proc/self/mountinfo, -1 where that cannot be read
	text string
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

// readable reports whether the table is known.
func (t *mountTable) readable() bool { return t.text != "" }

// refresh reads the table if it has changed since, and reports whether it has: the
// kernel says so by one system call.
func (t *mountTable) refresh() bool {
	if t.fd < 0 {
		return false
	}
	polled := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLPRI}}
	if n, err := unix.Poll(polled, 0); n == 0 && err == nil {
		return false
	}
	t.read()
	return true
}

func (t *mountTable) read() {
	t.text = ""
	var text []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := unix.Pread(t.fd, buffer, int64(len(text)))
		if err != nil {
			return
		}
		if n == 0 {
			t.text = string(text)
			return
		}
		text = append(text, buffer[:n]...)
	}
}

// view returns the lines of the mounts that folders are in, and of those below them.
func (t *mountTable) view(folders []string) string {
	var lines strings.Builder
	// What the kernel writes in place of blanks and backslashes.
	unescaper := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(t.text) {
		fields := strings.SplitN(line, " ", 6)
		if len(fields) < 6 {
			continue
		}
		point := unescaper.Replace(fields[4])
		if slices.ContainsFunc(folders, func(f string) bool { return below(f, point) || below(point, f) }) {
			lines.WriteString(line)
		}
	}
	return lines.String()
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
