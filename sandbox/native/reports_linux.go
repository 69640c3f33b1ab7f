//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// A report is a message of an init to the server.
type report struct {
	event event
	a, b  int // their meaning depends on the event
	call  int // the index of the call that failed
	fds   []int
}

// receiveReport receives a report and the descriptors with it.
func (s *socket) receiveReport() (r report, err error) {
	var p [4 * reportWords]byte
	if r.fds, err = s.receive(p[:]); err != nil {
		return r, err
	}
	word := func(i int) int { return int(int32(binary.LittleEndian.Uint32(p[4*i:]))) }
	r.event, r.a, r.b, r.call = event(word(0)), word(1), word(2), word(3)
	return r, nil
}

// A failure is an error of making a sandbox, or of starting its command.
type failure struct {
	Step  step
	What  string // such as a path
	Errno unix.Errno
}

// A step names the operation that failed.
type step string

const (
	stepSetup       step = "prepare the sandbox"
	stepProc        step = "mount /proc"
	stepMount       step = "mount" // with a path of the host
	stepControl     step = "talk to the server"
	stepFind        step = "find" // with the program, here and below
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

// initControl is the init's descriptor for control, initFree the first that is not
// its own from the start.
const (
	initControl = 3
	initFree    = 4
)

// reportWords is the length of a report, in words of 32 bits.
const reportWords = 4

// An event is the first word of a report. Two numbers follow it.
type event int32

const (
	eventReady         event = 1 + iota // the sandbox is built; its /out comes with it
	eventListening                      // the listening socket of the proxy comes with it
	eventSettled                        // the setup of a sandbox that is kept is made
	eventStarted                        // the command
	eventExited                         // the command: its code
	eventFailed                         // a sequence: its kind, the call's index; the errno
	eventExecutedInit                   // the command is the init's own file; it was ended
	eventCgroupRefused                  // entering a cgroup: its index; the errno
)

// fail returns nil for a nil error, and otherwise a failure that can be sent.
func fail(s step, what string, err error) error {
	if err == nil {
		return nil
	}
	f := &failure{Step: s, What: what, Errno: unix.EIO}
	errors.As(err, &f.Errno)
	return f
}

func asFailure(err error) failure {
	var f *failure
	if errors.As(err, &f) {
		return *f
	}
	failed := failure{Step: stepSetup, What: err.Error(), Errno: unix.EIO}
	errors.As(err, (*syscall.Errno)(&failed.Errno))
	return failed
}
