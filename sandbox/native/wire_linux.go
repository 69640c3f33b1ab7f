//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A line is the server's end of a socket pair to a zygote or an init. What a
// command is given goes over it and never appears in the other's own arguments
// or environment, which everybody on the host can see.
type line struct {
	file *os.File
	raw  syscall.RawConn
}

// newLine returns the server's end, which does not block threads, and the other
// one, which does.
func newLine() (*line, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "server")
	file, raw, err := pollable(pair[0], "init")
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return &line{file, raw}, theirs, nil
}

// pollable returns a descriptor as a file whose readiness can be awaited. It
// takes it over.
func pollable(fd int, name string) (*os.File, syscall.RawConn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, nil, fmt.Errorf("make a descriptor non-blocking: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, raw, nil
}

func (l *line) close() { _ = l.file.Close() }

// send sends bytes, at least one, and descriptors with the first of them.
func (l *line) send(packed []byte, fds []int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	var sent error
	err := l.raw.Write(func(fd uintptr) bool {
		for len(packed) > 0 {
			var n int
			n, sent = unix.SendmsgN(int(fd), packed, rights, nil, unix.MSG_NOSIGNAL)
			if sent == unix.EINTR {
				continue
			}
			if sent != nil {
				return sent != unix.EAGAIN
			}
			packed, rights = packed[n:], nil
		}
		return true
	})
	if err != nil {
		return err
	}
	return sent
}

// receive fills p, and returns the descriptors that came with it.
func (l *line) receive(p []byte) (fds []int, err error) {
	var failed error
	err = l.raw.Read(func(fd uintptr) bool {
		for len(p) > 0 {
			n, got, err := receiveRights(int(fd), p, 0)
			fds = append(fds, got...)
			if err == unix.EINTR {
				continue
			}
			if failed = err; err != nil {
				return err != unix.EAGAIN
			}
			p = p[n:]
		}
		return true
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		closeAll(fds)
		return nil, err
	}
	return fds, nil
}

// receiveRights receives some bytes, and the descriptors with them. The end of
// the stream is [io.EOF].
func receiveRights(socket int, p []byte, flags int) (n int, fds []int, err error) {
	var space [rightsBytes]byte
	n, size, _, _, err := unix.Recvmsg(socket, p, space[:], unix.MSG_CMSG_CLOEXEC|flags)
	if err != nil {
		return 0, nil, err
	}
	if n == 0 {
		return 0, nil, io.EOF
	}
	if size == 0 {
		return n, nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(space[:size])
	if err != nil || len(messages) == 0 {
		return n, nil, err
	}
	fds, err = unix.ParseUnixRights(&messages[0])
	return n, fds, err
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// Read is for messages' bodies, with which no descriptors come.
func (l *line) Read(p []byte) (int, error) {
	fds, err := l.receive(p)
	closeAll(fds)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// A report is what an init tells the server.
type report struct {
	news news
	a, b int // as its news says
	call int // the index of the call that failed
	fds  []int
}

// report receives one.
func (l *line) report() (r report, err error) {
	var p [4 * reportWords]byte
	if r.fds, err = l.receive(p[:]); err != nil {
		return r, err
	}
	word := func(i int) int { return int(int32(binary.LittleEndian.Uint32(p[4*i:]))) }
	r.news, r.a, r.b, r.call = news(word(0)), word(1), word(2), word(3)
	return r, nil
}

// A failure is an error of making a sandbox, or of starting its command.
type failure struct {
	Step  step
	What  string // what the step was about, such as a path
	Errno unix.Errno
}

// A step is what was being done when it failed.
type step string

const (
	stepSetup       step = "prepare the sandbox"
	stepProc        step = "mount /proc"
	stepMount       step = "mount" // What is a path of the host's
	stepControl     step = "talk to the server"
	stepFind        step = "find" // What is the program, here and below
	stepInterpreter step = "find the interpreter of"
	stepExec        step = "execute"
	stepSelf        step = "execute the sandbox's own init as"
)

func (f *failure) Error() string {
	if f.What == "" {
		return fmt.Sprintf("%s: %v", f.Step, f.Errno)
	}
	return fmt.Sprintf("%s %s: %v", f.Step, f.What, f.Errno)
}

func (f *failure) Unwrap() error { return f.Errno }
