//go:build amd64 || arm64

package native

import (
	"strings"

	"golang.org/x/sys/unix"
)

// openTree returns a detached copy of what is mounted at the mount's source, and
// below it, with no ties to the host's mounts: what is mounted on either later
// is not seen on the other. The mount's attributes are added to all of it; those
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

// openSource opens the path. What is in a workspace can be a skill's doing: a
// link there that an earlier command left must not lead out of it.
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
