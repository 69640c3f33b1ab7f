//go:build amd64 || arm64

package native

import (
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A box is the server's hold on one init and its sandbox. It is used for one
// command, or for those of one kept sandbox, and never again.
type box struct {
	line  *line
	pidfd *os.File
	raw   syscall.RawConn // pidfd's
	group *cgroup
	out   *os.File // the sandbox's /out

	exceeded atomic.Bool // its memory limit, so it was killed
}

// newBox has a zygote fork an init in a cgroup.
func newBox(z *zygote, group *cgroup) (*box, error) {
	server, theirs, err := newLine()
	if err != nil {
		return nil, err
	}
	pidfd, err := z.fork(theirs, group.files())
	_ = theirs.Close()
	if err != nil {
		server.close()
		return nil, err
	}
	b := &box{line: server, group: group}
	if b.pidfd, b.raw, err = pollable(pidfd, "init"); err != nil {
		server.close() // which ends the init
		return nil, err
	}
	return b, nil
}

// kill ends every process of the sandbox; it may be called at any time until
// close.
func (b *box) kill() {
	_ = b.raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) })
}

// lives reports whether the init has not ended yet.
func (b *box) lives() bool {
	lives := false
	_ = b.raw.Control(func(fd uintptr) { lives = !ended(fd) })
	return lives
}

// wait returns when the init, and with it every process of the sandbox, has
// ended.
func (b *box) wait() { _ = b.raw.Read(ended) }

// ended reports whether a process has.
func ended(pidfd uintptr) bool {
	polled := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(polled, 0)
	return err == nil && n > 0
}

// close ends the sandbox, waits for that, and releases what there is of it.
func (b *box) close() {
	b.line.close()
	b.kill()
	if b.out != nil {
		_ = b.out.Close()
	}
	b.wait()
	_ = b.pidfd.Close()
	b.group.release()
}

// awaitReady returns when the init has made the generic script.
func (b *box) awaitReady(generic *script) error {
	for {
		r, err := b.line.report()
		if err != nil {
			return err
		}
		switch {
		case r.news == isRefused:
			b.group.forgo(r.a, unix.Errno(r.b))
		case r.news == hasFailed:
			return generic.failed(r.call, unix.Errno(r.b))
		case r.news == isReady && len(r.fds) == 1:
			b.out = os.NewFile(uintptr(r.fds[0]), sandbox.OutDir)
			return nil
		}
	}
}
