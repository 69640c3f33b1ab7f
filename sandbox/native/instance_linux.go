//go:build amd64 || arm64

package native

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An instance is the server's side of one init and its sandbox. It serves one
// command, or those of one session, and is never used again.
type instance struct {
	socket  *socket
	pidfd   *os.File
	raw     syscall.RawConn // pidfd's
	group   *cgroup
	streams *stdio // of its command; a session has others for each of its commands
	out     int    // descriptor of the sandbox's /out, -1 until the init is ready

	prepared   *recipe  // whose setup was made ahead of a command; nil without
	workspaces []string // of the recipe
	view       string   // the mount table's of them then

	exceeded atomic.Bool // its memory limit, so it was killed
}

// newInstance asks a zygote to fork an init in a cgroup.
func newInstance(z *zygote, group *cgroup, user identity) (*instance, error) {
	streams, err := newStdio(user)
	if err != nil {
		return nil, err
	}
	server, theirs, err := newSocketPair()
	if err != nil {
		streams.close()
		return nil, err
	}
	pidfd, err := z.fork(theirs, group.files())
	_ = theirs.Close()
	if err != nil {
		streams.close()
		server.close()
		return nil, err
	}
	b := &instance{socket: server, group: group, streams: streams, out: -1}
	if b.pidfd, b.raw, err = pollable(pidfd, "init"); err != nil {
		streams.close()
		server.close() // which ends the init
		return nil, err
	}
	return b, nil
}

// kill ends every process of the sandbox; it may be called at any time until
// close.
func (b *instance) kill() {
	_ = b.raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) })
}

// lives reports whether the init has not ended yet.
func (b *instance) lives() bool {
	lives := false
	_ = b.raw.Control(func(fd uintptr) { lives = !ended(fd) })
	return lives
}

// wait returns when the init, and with it every process of the sandbox, has
// ended.
func (b *instance) wait() { _ = b.raw.Read(ended) }

// ended reports whether a process has.
func ended(pidfd uintptr) bool {
	polled := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(polled, 0)
	return err == nil && n > 0
}

// close ends the sandbox, waits for its end, and releases its resources.
func (b *instance) close() {
	b.socket.close()
	b.kill()
	if b.out >= 0 {
		_ = unix.Close(b.out)
	}
	if b.streams != nil {
		b.streams.close()
	}
	b.wait()
	_ = b.pidfd.Close()
	b.group.release()
}

// awaitReady returns when the init has made the generic sequence.
func (b *instance) awaitReady(generic *sequence) error {
	for {
		r, err := b.socket.receiveReport()
		if err != nil {
			return err
		}
		switch {
		case r.event == eventCgroupRefused:
			b.group.disableFolder(r.a, unix.Errno(r.b))
		case r.event == eventFailed:
			return generic.failed(r.call, unix.Errno(r.b))
		case r.event == eventReady && len(r.fds) == 1:
			b.out = r.fds[0]
			return nil
		}
	}
}

// prepare makes the setup of a recipe, whose open trees come with it, and gives the init
// its command's streams: nothing is missing but the command.
func (b *instance) prepare(h *host, r *recipe, trees []int) error {
	setup := h.setupSequence(r.mounts, r.limits, b.group, false)
	setup.sendReport(eventSettled)
	if err := b.socket.send(setup.pack(nil, kindSetup), append(slices.Clone(trees), b.streams.fds(h.null)...)); err != nil {
		return err
	}
	b.streams.closeTheirs()
	for {
		switch r, err := b.socket.receiveReport(); {
		case err != nil:
			return err
		case r.event == eventFailed:
			return setup.failed(r.call, unix.Errno(r.b))
		case r.event == eventSettled:
			return nil
		}
	}
}

// collect returns the files in the sandbox's /out after all processes have
// ended. Their content and names are a stranger's.
func (b *instance) collect() sandbox.Files {
	if emptyFolder(b.out) {
		return sandbox.Files{}
	}
	return sandbox.CollectFS(outFS(b.out))
}

// emptyFolder reports whether an open folder that was not read yet is empty, by one
// system call: the kernel lists all entries that fit, and one more would.
func emptyFolder(fd int) bool {
	var entries [1024]byte
	n, err := unix.Getdents(fd, entries[:])
	if err != nil || n <= 0 {
		return false // the walk says why
	}
	_, count, _ := unix.ParseDirent(entries[:n], -1, nil) // without . and ..
	return count == 0
}

// outFS is the tree below an open folder, in which no symbolic link is followed,
// nothing is opened but folders and regular files, and nothing blocks.
type outFS int

// maxListed bounds the entries of a folder that are read. It is above the
// number of files that a run returns.
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

// Open implements [fs.FS]. It opens regular files only: to open a device or a
// socket could be noticed at its other end.
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

func (i *outInfo) Name() string { return i.name }

func (i *outInfo) Size() int64 { return i.stat.Size }

func (i *outInfo) ModTime() time.Time { return time.Unix(i.stat.Mtim.Unix()) }

func (i *outInfo) IsDir() bool { return i.Mode().IsDir() }

func (i *outInfo) Sys() any { return nil }

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
