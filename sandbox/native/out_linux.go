//go:build amd64 || arm64

package native

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// collect returns what is in the sandbox's /out, in which nothing changes any
// more: all processes have ended. What is there is a stranger's doing all the
// same.
func (b *box) collect() sandbox.Files {
	return sandbox.CollectFS(outFS(b.out.Fd()))
}

// outFS is the tree below an open folder, in which no symbolic link is followed,
// nothing is opened but folders and regular files, and nothing blocks.
type outFS int

// maxListed is how many entries of a folder are looked at: more than are taken.
const maxListed = 4200

func (o outFS) openat(name string, flags uint64) (*os.File, error) {
	fd, err := unix.Openat2(int(o), name, &unix.OpenHow{
		Flags:   flags | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Open implements [fs.FS]. What is no regular file is not opened, as that could
// be noticed on a device's or a socket's other end.
func (o outFS) Open(name string) (fs.File, error) {
	info, err := o.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return o.openat(name, unix.O_RDONLY|unix.O_NONBLOCK)
}

// Stat implements [fs.StatFS]. It is about a symbolic link itself.
func (o outFS) Stat(name string) (fs.FileInfo, error) {
	f, err := o.openat(name, unix.O_PATH)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return statAt(int(f.Fd()), "", path.Base(name))
}

// ReadDir implements [fs.ReadDirFS].
func (o outFS) ReadDir(name string) ([]fs.DirEntry, error) {
	folder, err := o.openat(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxListed)
	if len(names) == 0 {
		return nil, nil // the error is that there are no more
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]fs.DirEntry, 0, len(names))
	for _, n := range names {
		info, err := statAt(int(folder.Fd()), n, n)
		if err != nil {
			return entries, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	return entries, nil
}

func statAt(folder int, at, name string) (fs.FileInfo, error) {
	info := &outInfo{name: name}
	if err := unix.Fstatat(folder, at, &info.stat, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info, nil
}

// An outInfo is the [fs.FileInfo] of an entry.
type outInfo struct {
	name string
	stat unix.Stat_t
}

func (i *outInfo) Name() string       { return i.name }
func (i *outInfo) Size() int64        { return i.stat.Size }
func (i *outInfo) ModTime() time.Time { return time.Unix(i.stat.Mtim.Unix()) }
func (i *outInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *outInfo) Sys() any           { return nil }

// Mode tells folders, regular files and symbolic links from all others.
func (i *outInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.stat.Mode & 0o777)
	switch i.stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return mode
	case unix.S_IFDIR:
		return mode | fs.ModeDir
	case unix.S_IFLNK:
		return mode | fs.ModeSymlink
	}
	return mode | fs.ModeIrregular
}
