//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// stdio holds the pipes of the three streams of one command, and copies them. The
// sandbox never gets a file of the server's itself, which could be a terminal.
//
// The pipes are made before there is a command, so that none waits for them: each is
// eight system calls, with Go's poller, of the 100 that there were between a request and
// its command.
type stdio struct {
	theirs [3]int // the sandbox's ends; -1 once closed
	ours   [3]*os.File

	reading atomic.Int32  // outputs that are still copied
	copied  chan struct{} // closed at the end of the last one; nil before start
}

// newStdio makes the pipes. The sandbox's ends belong to user, so that /dev/stdout
// can be opened.
func newStdio(user identity) (*stdio, error) {
	s := &stdio{theirs: [3]int{-1, -1, -1}}
	for fd := range s.theirs {
		if err := s.open(fd, user); err != nil {
			s.close()
			return nil, fmt.Errorf("make the command's streams: %w", err)
		}
	}
	return s, nil
}

func (s *stdio) open(fd int, user identity) (err error) {
	var pair [2]int // reader, writer
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	ours := pair[0]
	s.theirs[fd] = pair[1]
	if fd == 0 {
		ours, s.theirs[fd] = pair[1], pair[0]
	}
	if s.ours[fd], _, err = pollable(ours, "stream"); err != nil {
		return err
	}
	if user.changes {
		return unix.Fchown(s.theirs[fd], user.hostUID, user.hostGID)
	}
	return nil
}

// fds returns the descriptors to send to an init, in the order of streamSlots: null
// and the sandbox's ends.
func (s *stdio) fds(null int) []int { return append([]int{null}, s.theirs[:]...) }

// streamSlots returns the slots of a command's streams, where the descriptors that fds
// returns are in the slots from first on. A stream that is nothing is /dev/null.
func streamSlots(cmd *sandbox.Command, first slot) [3]slot {
	slots := [3]slot{first, first, first}
	for fd, piped := range [3]bool{cmd.Stdin != nil, cmd.Stdout != nil, cmd.Stderr != nil} {
		if piped {
			slots[fd] = first + 1 + slot(fd)
		}
	}
	return slots
}

// start starts the copying, once the command has been reported to run.
func (s *stdio) start(cmd *sandbox.Command) {
	if in := s.ours[0]; cmd.Stdin != nil {
		// Nobody waits for this one: when cmd.Stdin blocks, it ends with the
		// first Read that returns after the command's end.
		go func() {
			defer in.Close()
			_, _ = io.Copy(in, cmd.Stdin)
		}()
	}
	s.copied = make(chan struct{})
	s.reading.Store(1) // start itself
	for fd, to := range [3]io.Writer{1: cmd.Stdout, 2: cmd.Stderr} {
		if to != nil {
			s.reading.Add(1)
			go func() {
				defer s.endCopy()
				drain(to, s.ours[fd])
			}()
		}
	}
	s.endCopy()
}

func (s *stdio) endCopy() {
	if s.reading.Add(-1) == 0 {
		close(s.copied)
	}
}

const (
	// firstRead is the size of the first reads of an output, in bytes. Most commands
	// print less: with 32 KB from the start the buffers were most of what a call
	// allocates.
	firstRead = 4 << 10
	laterRead = 64 << 10
)

// drain copies until the end or the deadline of from, including the content of the
// pipe at the deadline: this process may have had no processor time to read it. It reads
// on if the writer fails, so that the command is not blocked.
func drain(to io.Writer, from *os.File) {
	buffer := make([]byte, firstRead)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				to = io.Discard
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			copyAvailable(to, from)
			return
		case err != nil:
			return
		case n == firstRead:
			buffer = make([]byte, laterRead)
		}
	}
}

// strayTime bounds how long outputs are awaited when all processes of the
// sandbox have ended. Their streams are then closed, unless the command handed
// one to a process outside, over a socket file in a workspace; and all output so
// far is copied, unless the writer blocks.
const strayTime = 400 * time.Millisecond

// finish waits until all output is copied, after the sandbox's end.
func (s *stdio) finish() {
	if s.copied == nil {
		return // nothing was started
	}
	select {
	case <-s.copied: // as nearly always: no timer is needed
		return
	default:
	}
	for range 2 { // the deadline first ends reading; a writer gets as long again
		select {
		case <-s.copied:
			return
		case <-time.After(strayTime):
			s.endReading()
		}
	}
}

// readAvailable copies the output so far, after the end of the command but not of all
// processes that may write to its streams.
func (s *stdio) readAvailable() {
	s.endReading()
	s.finish()
}

// endReading sets the deadline of both outputs to now.
func (s *stdio) endReading() {
	for _, f := range s.ours[1:] {
		if f != nil {
			_ = f.SetReadDeadline(time.Now())
		}
	}
}

// copyAvailable copies the content of a pipe, up to its capacity: a writer may
// go on without end.
func copyAvailable(to io.Writer, from *os.File) {
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		const capacity = 64 << 10 // of a pipe
		rest := make([]byte, capacity)
		for taken := 0; taken < capacity; {
			n, err := unix.Read(int(fd), rest)
			if n <= 0 || err != nil {
				return
			}
			_, _ = to.Write(rest[:n])
			taken += n
		}
	})
}

// closeTheirs closes the sandbox's ends, once it has its own.
func (s *stdio) closeTheirs() {
	for fd, theirs := range s.theirs {
		if theirs >= 0 {
			_ = unix.Close(theirs)
			s.theirs[fd] = -1
		}
	}
}

// close closes everything.
func (s *stdio) close() {
	s.closeTheirs()
	for _, f := range s.ours {
		if f != nil {
			_ = f.Close()
		}
	}
}
