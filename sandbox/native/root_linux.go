//go:build amd64 || arm64

package native

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	noPrivileges = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	shmLimit     = 64 << 20 // as Docker's
	bytesPerFile = 4096     // of a tmpfs: bounds its inodes, which are the kernel's memory
)

// buildRoot makes the sandbox's root out of s and moves into it. Everything of
// the host's is opened first. Then the host's root goes away, so that no link in
// what is mounted can lead a later step out of the sandbox.
func buildRoot(s *setup, passed []int) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fail(stepSetup, "make mounts private", err)
	}
	trees, err := openTrees(s.Mounts, passed)
	if err != nil {
		return err
	}
	const procAttributes = noPrivileges | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_RDONLY
	proc, err := newMount("proc", procAttributes)
	if err != nil {
		return fail(stepProc, "", err)
	}
	if err := pivot(); err != nil {
		return err
	}
	if err := attachNew(proc, "/proc"); err != nil {
		return err
	}
	if err := furnish(s, trees); err != nil {
		return err
	}
	return sealRoot()
}

// openTrees returns a tree for each mount, -1 for an optional one that has gone.
func openTrees(mounts []mount, passed []int) ([]int, error) {
	trees := make([]int, len(mounts))
	for i := range mounts {
		m := &mounts[i]
		if m.Passed {
			if len(passed) == 0 {
				return nil, fail(stepControl, "", unix.EBADMSG)
			}
			trees[i], passed = passed[0], passed[1:]
			continue
		}
		tree, err := m.openTree()
		if err != nil && !(m.Optional && errors.Is(err, unix.ENOENT)) {
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

// furnish attaches the trees and fills in the rest.
func furnish(s *setup, trees []int) error {
	scratch := []struct {
		path string
		size int64
	}{{"/tmp", s.Tmp}, {"/out", s.Tmp}, {"/dev/shm", min(s.Tmp, shmLimit)}}
	for _, t := range scratch {
		tree, err := tmpfs(t.size, 0o1777)
		if err != nil {
			return fail(stepSetup, "make "+t.path, err)
		}
		if err := attachNew(tree, t.path); err != nil {
			return err
		}
	}
	for _, l := range s.Links {
		if err := makeLink(l); err != nil {
			return err
		}
	}
	for _, f := range s.Files {
		if err := makeFile(f.Path, f.Text); err != nil {
			return err
		}
	}
	for i, tree := range trees {
		if tree < 0 {
			continue
		}
		if err := attachTree(tree, s.Mounts[i].Target); err != nil {
			return err
		}
	}
	return mask(s.Masks)
}

// tmpfs returns a detached one of at most size bytes.
func tmpfs(size int64, mode int) (int, error) {
	return newMount("tmpfs", noPrivileges,
		option{"size", strconv.FormatInt(size, 10)},
		option{"nr_inodes", strconv.FormatInt(max(size/bytesPerFile, 1024), 10)},
		option{"mode", strconv.FormatInt(int64(mode), 8)})
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

// mask covers what is there of paths: a file with /dev/null, a folder with an
// empty one.
func mask(paths []string) error {
	for _, path := range paths {
		var stat unix.Stat_t
		if err := unix.Stat(path, &stat); err != nil {
			continue // not on this kernel
		}
		tree, err := cover(stat.Mode&unix.S_IFMT == unix.S_IFDIR)
		if err != nil {
			return fail(stepSetup, "cover "+path, err)
		}
		if err := attach(tree, path); err != nil {
			return fail(stepSetup, "cover "+path, err)
		}
	}
	return nil
}

func cover(folder bool) (int, error) {
	if folder {
		const attributes = noPrivileges | unix.MOUNT_ATTR_RDONLY
		return newMount("tmpfs", attributes, option{"size", "4k"}, option{"nr_inodes", "2"}, option{"mode", "555"})
	}
	null := mount{Source: "/dev/null", Device: true}
	return null.openTree()
}

// sealRoot makes the root itself read-only; what is mounted on it stays as it
// is.
func sealRoot() error {
	change := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return fail(stepSetup, "make the root read-only", unix.MountSetattr(unix.AT_FDCWD, "/", 0, &change))
}

// fail returns nil for a nil error, and otherwise a failure that can be sent.
func fail(s step, what string, err error) error {
	if err == nil {
		return nil
	}
	f := &failure{Step: s, What: what, Errno: unix.EIO}
	errors.As(err, &f.Errno)
	return f
}
