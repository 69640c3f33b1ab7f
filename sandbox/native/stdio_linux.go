//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// stdio copies between the three streams of a command and pipes. The sandbox
// never gets a file of the server's itself, which could be a terminal.
type stdio struct {
	theirs  [3]*os.File
	ours    [3]*os.File // nil where the command's stream is nothing
	outputs sync.WaitGroup
}

// openStdio makes the pipes. They belong to user, so that /dev/stdout can be
// opened.
func openStdio(cmd *sandbox.Command, user identity) (*stdio, error) {
	s := &stdio{}
	wanted := [3]bool{cmd.Stdin != nil, cmd.Stdout != nil, cmd.Stderr != nil}
	for fd, piped := range wanted {
		if err := s.open(fd, piped, user); err != nil {
			s.close()
			return nil, fmt.Errorf("make the command's streams: %w", err)
		}
	}
	return s, nil
}

func (s *stdio) open(fd int, piped bool, user identity) (err error) {
	if !piped {
		s.theirs[fd], err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
		return err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	if fd == 0 {
		s.theirs[fd], s.ours[fd] = reader, writer
	} else {
		s.theirs[fd], s.ours[fd] = writer, reader
	}
	if user.changes {
		return s.theirs[fd].Chown(user.hostUID, user.hostGID)
	}
	return nil
}

// fds returns the sandbox's ends.
func (s *stdio) fds() []int {
	fds := make([]int, len(s.theirs))
	for i, f := range s.theirs {
		fds[i] = int(f.Fd())
	}
	return fds
}

// start starts the copying, once the command has been reported to run.
func (s *stdio) start(cmd *sandbox.Command) {
	if in := s.ours[0]; in != nil {
		// Nobody waits for this one: when cmd.Stdin blocks, it ends with the
		// first Read that returns after the command's end.
		go func() {
			defer in.Close()
			_, _ = io.Copy(in, cmd.Stdin)
		}()
	}
	for fd, to := range map[int]io.Writer{1: cmd.Stdout, 2: cmd.Stderr} {
		if from := s.ours[fd]; from != nil {
			s.outputs.Go(func() { drain(to, from) })
		}
	}
}

// drain copies until the end or the deadline of from, including the content of the
// pipe at the deadline: this process may have had no processor time to read it. It reads
// on if the writer fails, so that the command is not blocked.
func drain(to io.Writer, from *os.File) {
	switch _, err := io.Copy(struct{ io.Writer }{to}, from); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		copyAvailable(to, from)
	case err != nil:
		_, _ = io.Copy(io.Discard, from)
	}
}

// strayTime bounds how long outputs are awaited when all processes of the
// sandbox have ended. Their streams are then closed, unless the command handed
// one to a process outside, over a socket file in a workspace; and all output so
// far is copied, unless the writer blocks.
const strayTime = 400 * time.Millisecond

// finish waits until all output is copied, after the sandbox's end.
func (s *stdio) finish() {
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		s.outputs.Wait()
	}()
	for range 2 { // the deadline first ends reading; a writer gets as long again
		select {
		case <-copied:
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
	for _, f := range s.theirs {
		if f != nil {
			_ = f.Close()
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
