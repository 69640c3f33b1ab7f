//go:build amd64 || arm64

package native

import "golang.org/x/sys/unix"

// maxTrees is how many open trees go with a setup; the kernel takes 253.
const maxTrees = 200

// openTree returns a detached copy of what is mounted at path, and below it,
// with no ties to the host's mounts: what is mounted on either later is not seen
// on the other. Attributes are added to all of it; those that a mount already
// has stay.
func openTree(path string, attributes uint64) (int, error) {
	const flags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE
	tree, err := unix.OpenTree(unix.AT_FDCWD, path, flags)
	if err != nil {
		return -1, err
	}
	change := unix.MountAttr{Attr_set: attributes, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &change); err != nil {
		_ = unix.Close(tree)
		return -1, err
	}
	return tree, nil
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
