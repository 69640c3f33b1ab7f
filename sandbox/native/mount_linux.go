//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// openTree returns a detached copy of the mounts at and below the mount's
// source. It has no ties to the host's mounts: a later mount on either does not
// appear on the other. The mount's attributes are added to all of it; those
// that a mount already has stay.
func (m *mount) openTree() (int, error) {
	source, err := m.openSource()
	if err != nil {
		return -1, err
	}
	defer unix.Close(source)
	const flags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE | unix.AT_EMPTY_PATH
	tree, err := unix.OpenTree(source, "", flags)
	if err != nil {
		return -1, err
	}
	change := unix.MountAttr{Attr_set: m.attributes(), Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &change); err != nil {
		_ = unix.Close(tree)
		return -1, err
	}
	return tree, nil
}

// openSource opens the path. A skill can write to a workspace: a link there
// that an earlier command made must not lead out of it.
func (m *mount) openSource() (int, error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC
	if m.Around == "" {
		return unix.Open(m.Source, flags, 0)
	}
	around, err := unix.Open(m.Around, flags, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(around)
	return unix.Openat2(around, strings.TrimPrefix(m.Source, m.Around+"/"), &unix.OpenHow{
		Flags:   flags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
}

// attributes of the mount in the sandbox.
func (m *mount) attributes() uint64 {
	attributes := uint64(unix.MOUNT_ATTR_NOSUID)
	if !m.Device {
		attributes |= unix.MOUNT_ATTR_NODEV
	}
	if !m.Write {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	return attributes
}

// An option is one of a new file system's, such as size=1m.
type option struct{ key, value string }

// newMount returns a detached mount of a new file system.
func newMount(kind string, attributes int, options ...option) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, o := range options {
		if err := unix.FsconfigSetString(fs, o.key, o.value); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attributes)
}

// attach puts a detached mount at path and closes it.
func attach(tree int, path string) error {
	defer unix.Close(tree)
	return unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

const (
	noPrivileges = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	bytesPerFile = 4096 // of a tmpfs: bounds its inodes, which are the kernel's memory
	leastFiles   = 4096
)

// Places in the template that are not in a sandbox.
const (
	newRoot   = "/new"  // where an init makes its root
	emptyRoot = "/void" // an empty mount, to cover folders with
)

// buildTemplate gives the calling thread mounts of its own: those that all
// sandboxes have, read-only, and nothing else of the host's. Each fork has a copy
// of them, which costs far less than to open and attach them again.
func buildTemplate(l *layout) error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fail(stepSetup, "make a mount namespace", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fail(stepSetup, "make mounts private", err)
	}
	trees, err := openTrees(l.Mounts)
	if err != nil {
		return err
	}
	// The kernel lets a namespace have its own /proc only where it sees another
	// in full: those of the inits, below the zygote's.
	proc, err := newMount("proc", noPrivileges|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return fail(stepProc, "", err)
	}
	if err := pivot(); err != nil {
		return err
	}
	if err := attachNew(proc, "/proc"); err != nil {
		return err
	}
	return furnish(l, trees)
}

// openTrees returns a tree for each mount, -1 for an optional one that has gone.
func openTrees(mounts []mount) ([]int, error) {
	trees := make([]int, len(mounts))
	for i := range mounts {
		m := &mounts[i]
		tree, err := m.openTree()
		if err != nil && !(m.Optional && errors.Is(err, unix.ENOENT)) {
			closeAll(trees[:i])
			return nil, fail(stepMount, m.Source, err)
		}
		trees[i] = tree
	}
	return trees, nil
}

// pivot makes an empty tmpfs the root, and nothing of the old one reachable.
func pivot() error {
	root, err := tmpfs(1<<20, 0o755)
	if err != nil {
		return fail(stepSetup, "make a tmpfs", err)
	}
	defer unix.Close(root)
	err = unix.MoveMount(root, "", unix.AT_FDCWD, "/", unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		return fail(stepSetup, "attach the root", err)
	}
	if err := unix.Fchdir(root); err != nil {
		return fail(stepSetup, "enter the root", err)
	}
	// With the same folder twice the old root lands on top of the new one, from
	// where it is taken away: see pivot_root(2).
	if err := unix.PivotRoot(".", "."); err != nil {
		return fail(stepSetup, "pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fail(stepSetup, "detach the host's root", err)
	}
	return fail(stepSetup, "enter the root", unix.Chdir("/"))
}

// furnish attaches the trees, fills in the rest and makes it read-only.
func furnish(l *layout, trees []int) error {
	sealed := []string{"/etc", "/dev", emptyRoot, "/"}
	for _, path := range sealed[:3] {
		tree, err := tmpfs(1<<20, 0o755)
		if err != nil {
			return fail(stepSetup, "make "+path, err)
		}
		if err := attachNew(tree, path); err != nil {
			return err
		}
	}
	for _, path := range []string{newRoot, "/dev/shm"} {
		if err := os.Mkdir(path, 0o755); err != nil {
			return fail(stepSetup, "make "+path, err)
		}
	}
	for _, f := range l.Files {
		if err := makeFile(f.Path, f.Text); err != nil {
			return err
		}
	}
	for _, k := range l.Links {
		if err := makeLink(k); err != nil {
			return err
		}
	}
	for i, tree := range trees {
		if tree < 0 {
			continue
		}
		if err := attachTree(tree, l.Mounts[i].Target); err != nil {
			return err
		}
	}
	for _, path := range sealed {
		change := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &change); err != nil {
			return fail(stepSetup, "make "+path+" read-only", err)
		}
	}
	return nil
}

// tmpfs returns a detached one of at most size bytes.
func tmpfs(size int64, mode int) (int, error) {
	return newMount("tmpfs", noPrivileges, tmpfsOptions(size, mode)...)
}

func tmpfsOptions(size int64, mode int) []option {
	return []option{
		{"size", strconv.FormatInt(size, 10)},
		{"nr_inodes", strconv.FormatInt(max(size/bytesPerFile, leastFiles), 10)},
		{"mode", strconv.FormatInt(int64(mode), 8)},
	}
}

// attachNew attaches tree at a folder that it makes.
func attachNew(tree int, path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fail(stepSetup, "make "+path, err)
	}
	return fail(stepSetup, "attach "+path, attach(tree, path))
}

// attachTree attaches tree, a folder or a file, at a path that it makes where
// there is none.
func attachTree(tree int, path string) error {
	var stat unix.Stat_t
	if err := unix.Fstat(tree, &stat); err != nil {
		return fail(stepMount, path, err)
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return fail(stepMount, path, err)
		}
	} else if err := makeFile(path, ""); err != nil {
		return err
	}
	return fail(stepMount, path, attach(tree, path))
}

func makeLink(l link) error {
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o755); err != nil {
		return fail(stepSetup, "make "+l.Path, err)
	}
	return fail(stepSetup, "link "+l.Path, os.Symlink(l.To, l.Path))
}

func makeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fail(stepSetup, "make "+path, err)
	}
	return fail(stepSetup, "write "+path, os.WriteFile(path, []byte(text), 0o644))
}

// openMounts opens a command's mounts: in the server where it may, as it may
// reach folders that the sandbox's user cannot, and otherwise in the zygote.
func (h *host) openMounts(mounts []mount, zygote func([]mount) ([]int, error)) ([]int, error) {
	if h.user.changes {
		trees, err := openTrees(mounts)
		if !errors.Is(err, unix.EPERM) { // of root without the right to mount
			return trees, explainMount(mounts, err)
		}
	}
	trees, err := zygote(mounts)
	return trees, explainMount(mounts, err)
}

// explainMount returns an error for people.
func explainMount(mounts []mount, err error) error {
	var f *failure
	if !errors.As(err, &f) || f.Step != stepMount {
		return err
	}
	for _, m := range mounts {
		if m.Source == f.What && m.Around != "" && f.Errno == unix.ELOOP {
			return fmt.Errorf("workspace %s: a symbolic link leads there from workspace %s; remove the link", m.Source, m.Around)
		}
	}
	if f.Errno == unix.EACCES { // a path's matter, not the system's
		return fmt.Errorf("mount %s: permission denied; let the user that sandboxes run as reach it", f.What)
	}
	return fmt.Errorf("mount %s: %w", f.What, f.Errno)
}
