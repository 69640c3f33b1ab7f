package docker

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/docker/docker/api/types"

	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// pipesDir is the folder of a container's pipes. It is empty when a command begins.
const pipesDir = "/dev/skills-mcp"

// pipes are named pipes between the driver and one container's shell, for its line and
// all output, so that a call passes no other process. Through the engine it passes two
// each way, Docker and its shim, which took 1.3 ms of a call's 4.5 ms: 1.0 of 1.35 ms to
// the command's begin, and 0.5 of 0.95 ms from its end (medians after rests of 0.5 s).
//
// Their names are removed before the shell gets its line, so nobody else opens them, and
// nothing of them is left when the server or the container ends. The input of commands
// is none of them: a program that opens /dev/stdin after its end would wait for a writer
// for ever, as it does for no pipe without a name.
//
// It is a [shellproto.Conn] after connect.
type pipes struct {
	dir string // on the host

	line, out, err *os.File
	others         []*os.File // the other end of each, so that neither side waits for the other
	released       sync.Once  // others are closed, and the files removed

	attach func(context.Context) (types.HijackedResponse, error) // connects to the container's input
	life   context.Context                                       // of that connection
	end    context.CancelFunc                                    // called by Close
}

// newPipes creates pipes in a new folder of parent. Whoever gets them closes them.
func newPipes(parent, instance string) (*pipes, error) {
	dir, err := os.MkdirTemp(parent, instance+"-")
	if err != nil {
		return nil, err
	}
	p := &pipes{dir: dir}
	p.life, p.end = context.WithCancel(context.Background())
	if err := errors.Join(os.Chmod(dir, 0o755), p.open()); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// open creates and opens the pipes.
func (p *pipes) open() (err error) {
	for _, one := range []struct {
		name        string
		ours, other **os.File
		writes      bool
	}{
		{name: "line", ours: &p.line, writes: true},
		{name: "out", ours: &p.out},
		{name: "err", ours: &p.err},
	} {
		reader, writer, err := openPipe(filepath.Join(p.dir, one.name))
		if err != nil {
			return err
		}
		if one.writes {
			reader, writer = writer, reader
		}
		*one.ours, p.others = reader, append(p.others, writer)
	}
	return nil
}

const (
	// readyTimeout bounds the start of a shell.
	readyTimeout = shellproto.BeginTimeout
	// readyLook is the pause between looks whether its container still runs: while p has
	// both ends of its pipes, they do not end with it.
	readyLook = 500 * time.Millisecond
)

// errUnconnected is returned for a container whose shell does not use its pipes.
var errUnconnected = errors.New("the shell is not at its pipes")

// connect waits until the shell of a started container is at its pipes. runs reports
// whether the container runs.
func (p *pipes) connect(ctx context.Context, runs func(context.Context) bool) error {
	defer context.AfterFunc(ctx, func() { _ = p.out.SetReadDeadline(time.Unix(1, 0)) })()
	var ready [1]byte
	for began := time.Now(); ; {
		_ = p.out.SetReadDeadline(time.Now().Add(readyLook))
		_, err := p.out.Read(ready[:])
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && ready[0] == shellproto.Ready:
			p.release()
			return p.out.SetReadDeadline(time.Time{})
		case err == nil || !errors.Is(err, os.ErrDeadlineExceeded):
			return errUnconnected
		case time.Since(began) > readyTimeout || !runs(ctx):
			return errUnconnected
		}
	}
}

// release closes the other ends, and removes the files: nobody is to open them any more.
func (p *pipes) release() {
	p.released.Do(func() {
		for _, file := range p.others {
			_ = file.Close()
		}
		_ = os.RemoveAll(p.dir)
	})
}

// Copy implements [shellproto.Conn].
func (p *pipes) Copy(stdout, stderr io.Writer) error {
	var one sync.Mutex // writes
	var failed error   // of stderr; valid after copied
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		if failed = copyPipe(stderr, p.err, &one); failed != nil {
			_ = p.out.Close()
		}
	}()
	err := copyPipe(stdout, p.out, &one)
	if err != nil {
		_ = p.err.Close()
	}
	<-copied
	return errors.Join(err, failed)
}

// copyPipe copies a pipe to its end. It holds one while it writes.
func copyPipe(to io.Writer, pipe *os.File, one *sync.Mutex) error {
	buffer := make([]byte, 16<<10)
	for {
		n, err := pipe.Read(buffer)
		if n > 0 {
			one.Lock()
			_, failed := to.Write(buffer[:n])
			one.Unlock()
			if failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Write implements [shellproto.Conn].
func (p *pipes) Write(b []byte) (int, error) { return p.line.Write(b) }

// Input implements [shellproto.Conn]. Without a connection to the input a command could
// wait for it in vain, so p is closed.
func (p *pipes) Input() io.WriteCloser {
	response, err := p.attach(p.life)
	if err != nil {
		_ = p.Close()
		return noInput{err}
	}
	context.AfterFunc(p.life, response.Close)
	return input{response}
}

// noInput is an input to which there is no connection.
type noInput struct{ err error }

func (n noInput) Write([]byte) (int, error) { return 0, n.err }
func (noInput) Close() error                { return nil }

// Close implements [shellproto.Conn].
func (p *pipes) Close() error {
	p.end()
	p.release()
	for _, file := range []*os.File{p.line, p.out, p.err} {
		if file != nil {
			_ = file.Close()
		}
	}
	return nil
}
