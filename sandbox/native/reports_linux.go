//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// initControl is the init's descriptor for control, initFree the first that is not
// its own from the start.
const (
	initControl = 3
	initFree    = 4
)

// reportWords is the length of a report, in words of 32 bits.
const reportWords = 4

// A news is what a report tells, with two numbers. It is the report's first
// word.
type news int32

const (
	isReady     news = 1 + iota // the sandbox is built; its /out comes with it
	isListening                 // the listening socket of the proxy comes with it
	isSettled                   // the setup of a sandbox that is kept is made
	hasStarted                  // the command
	hasExited                   // the command: its code
	hasFailed                   // a script: its kind, the call's index; the errno
	isSelf                      // the command is the init's own file; it was ended
	isRefused                   // entering a cgroup: its index; the errno
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
