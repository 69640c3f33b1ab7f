//go:build amd64 || arm64

package native

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The server and the init talk over a socket pair: the server sends a setup and
// a job, the init sends reports. What the command is given never appears in the
// init's own arguments or environment, which everybody on the host can see.

// A setup is what the init builds the sandbox from, before it knows the
// command.
type setup struct {
	Mounts []mount // attached in this order
	Links  []link
	Files  []file
	Masks  []string // paths below /proc that are covered

	Tmp       int64 // bytes of /tmp, and of /out
	PIDs      int64
	OpenFiles int64
	Data      int64 // bytes of private memory of each process; 0 is no such limit
}

func (s *setup) pack(c *codec) {
	list(c, &s.Mounts, func(m *mount) {
		c.text(&m.Source)
		c.text(&m.Around)
		c.text(&m.Target)
		c.flag(&m.Passed)
		c.flag(&m.Write)
		c.flag(&m.Device)
		c.flag(&m.Optional)
	})
	list(c, &s.Links, func(l *link) { c.text(&l.Path); c.text(&l.To) })
	list(c, &s.Files, func(f *file) { c.text(&f.Path); c.text(&f.Text) })
	c.texts(&s.Masks)
	c.number(&s.Tmp)
	c.number(&s.PIDs)
	c.number(&s.OpenFiles)
	c.number(&s.Data)
}

// A mount is a folder or file of the host that is seen in the sandbox.
type mount struct {
	Source   string // the host's path, which the init opens unless Passed
	Around   string // a folder that Source is in, below which no symbolic link is followed; or ""
	Target   string // the sandbox's path
	Passed   bool   // the open tree came with the setup, in the mounts' order
	Write    bool
	Device   bool // a device file; elsewhere devices do not work
	Optional bool // no error when Source has gone
}

// A link is a symbolic link of the sandbox's root.
type link struct{ Path, To string }

// A file is a small file of the sandbox's root.
type file struct{ Path, Text string }

// A job is the command.
type job struct{ Argv, Env []string }

func (j *job) pack(c *codec) { c.texts(&j.Argv); c.texts(&j.Env) }

// A report is what the init tells the server: that the command started, that it
// exited, or that something failed before it started.
type report struct {
	Started bool
	Exited  bool
	Code    int64
	Failed  failure // when its Step is set
}

func (r *report) pack(c *codec) {
	c.flag(&r.Started)
	c.flag(&r.Exited)
	c.number(&r.Code)
	c.text((*string)(&r.Failed.Step))
	c.text(&r.Failed.What)
	errno := int64(r.Failed.Errno)
	c.number(&errno)
	r.Failed.Errno = unix.Errno(errno)
}

// A failure is an error of the init's.
type failure struct {
	Step  step
	What  string // what the step was about, such as a path
	Errno unix.Errno
}

// A step is what the init was doing when it failed.
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

// socketPair returns the server's end, which does not block threads, and the
// init's end, which does.
func socketPair() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		_ = unix.Close(pair[0])
		_ = unix.Close(pair[1])
		return nil, nil, fmt.Errorf("make a socket non-blocking: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "init"), os.NewFile(uintptr(pair[1]), "server"), nil
}

// send sends a setup with its open trees.
func send(conn *os.File, s *setup, trees []int) error {
	packed, err := encode(s)
	if err != nil {
		return err
	}
	if err := sendRights(conn, packed[:headSize], trees); err != nil {
		return err
	}
	_, err = conn.Write(packed[headSize:])
	return err
}

// sendRights sends head, which an empty socket buffer always has room for, with
// the descriptors.
func sendRights(conn *os.File, head []byte, fds []int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	var sent error
	err = raw.Control(func(fd uintptr) {
		sent = unix.Sendmsg(int(fd), head, rights, nil, unix.MSG_NOSIGNAL)
	})
	if err != nil {
		return err
	}
	return sent
}

// A wire is the init's end.
type wire int

// receive reads a message and the trees that came with it.
func (w wire) receive(m message) (trees []int, err error) {
	var head [headSize]byte
	trees, err = w.receiveRights(head[:])
	if err != nil {
		return nil, err
	}
	return trees, decodeBody(w, head, m)
}

func (w wire) receiveRights(head []byte) ([]int, error) {
	space := make([]byte, unix.CmsgSpace(4*maxTrees))
	n, rights, _, _, err := unix.Recvmsg(int(w), head, space, unix.MSG_CMSG_CLOEXEC|unix.MSG_WAITALL)
	if err != nil {
		return nil, err
	}
	if n < len(head) {
		return nil, unix.EPIPE // the server is gone
	}
	if rights == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(space[:rights])
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return unix.ParseUnixRights(&messages[0])
}

// Read reads without Go's poller, for which the init has no use.
func (w wire) Read(p []byte) (int, error) {
	n, err := unix.Read(int(w), p)
	if err == nil && n == 0 {
		err = unix.EPIPE
	}
	return max(n, 0), err
}

// tell sends a report. When the server is gone so is this process, soon.
func (w wire) tell(r *report) {
	packed, err := encode(r)
	if err != nil {
		return
	}
	_ = unix.Sendto(int(w), packed, unix.MSG_NOSIGNAL, nil)
}
