package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// ServeStdio answers MCP on r and w until r ends, ctx is done or w fails. The client
// acts for the principal of ctx. options may be nil.
//
// When r ends, the requests read so far have [Options.Drain] to finish, from
// [Backend.Lists] on; then, or at once in the other cases, every request is
// cancelled and has [Options.Grace] to return. It returns nil when r has
// ended, the cause of ctx, or the error of r or w. A client that has not taken its
// last messages by the end of the grace counts as an error of w.
//
// If ctx ends first, it interrupts the read by r's SetReadDeadline, else by
// its Close. An [os.File] is never closed, so where it knows no deadlines (a
// standard input that is a terminal or a file) one goroutine stays in Read
// until the process ends. A write that blocks beyond the grace is interrupted
// in the same way.
//
// Only protocol messages go to w, each as one line in one Write. A process
// that passes its standard output should ignore SIGPIPE (for example with
// [os/signal.Ignore]), or a client that is gone ends it before the server
// can cancel what runs.
//
// Handlers of client notifications and the hooks of initialize and ping run in
// the read loop: they must not block.
func ServeStdio(ctx context.Context, b Backend, r io.Reader, w io.Writer, options *Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	o := options.withDefaults(stdioBounds())
	s, err := newStream(ctx, stop, b, w, stdioKind, o)
	if err != nil {
		return err
	}
	s.leads = true
	in := &input{stream: s, lines: newLineReader(r, o.bounds.message), ended: make(chan struct{})}
	go s.calls.lead(func() *call { return in.read(ctx) })

	err = in.wait(ctx)
	stop(errInputEnded)
	return s.shutdown(err, in.interrupt(r))
}

// An input is the state of the read loop.
type input struct {
	stream *stream
	lines  *lineReader
	ended  chan struct{} // closed by the read loop
	err    error         // set before that
}

// interrupt ends the read loop, and returns a channel that is closed when it has ended
// or cannot be interrupted.
func (in *input) interrupt(r io.Reader) <-chan struct{} {
	select {
	case <-in.ended:
		return in.ended // r is the caller's again, and may be in use
	default:
	}
	if interruptible(r, func(f readDeadliner) error { return f.SetReadDeadline(longAgo) }) {
		return in.ended
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// wait returns when the input or ctx has ended and requests have drained, with the
// reason.
func (in *input) wait(ctx context.Context) error {
	s := in.stream
	defer s.calls.close()
	select {
	case <-in.ended:
		if in.err != nil {
			return in.err
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.calls.close()
	s.calls.endStreams(errInputEnded)
	if s.options.bounds.drain < 0 {
		return nil
	}
	select { // a request that waits for the lists is drained from then on
	case <-s.calls.idle:
	case <-s.Lists:
	case <-ctx.Done():
	}
	drained := time.NewTimer(s.options.bounds.drain)
	defer drained.Stop()
	select {
	case <-s.calls.idle:
	case <-drained.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

var errLineTooLong = errors.New("line too long")

// A lineReader splits a stream into lines of at most max bytes. mcp-go's reader has no
// limit.
type lineReader struct {
	r   *bufio.Reader
	max int
	err error // sticky, so that a terminal is not read on after its end
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next returns the next line as a new slice, without its end ("\n" or "\r\n"). The
// last line needs no end. For a line above the limit it returns errLineTooLong, and
// continues with the line after it.
func (l *lineReader) next() ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	var line []byte
	tooLong := false
	for more := true; more; {
		part, err := l.r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > l.max+len("\r\n"); tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if more = err == bufio.ErrBufferFull; !more {
			l.err = err
		}
	}
	if len(line) == 0 && !tooLong && l.err != nil {
		return nil, l.err
	}
	if line = trimEnd(line); tooLong || len(line) > l.max {
		return nil, errLineTooLong
	}
	return line, nil
}

func trimEnd(line []byte) []byte {
	line, _ = bytes.CutSuffix(line, []byte("\n"))
	line, _ = bytes.CutSuffix(line, []byte("\r"))
	return line
}

// read handles messages until one is a call that its caller has to run, or until the
// input or ctx ends: then it closes in.ended and returns nil.
func (in *input) read(ctx context.Context) *call {
	for {
		c, err := in.readMessage(ctx)
		switch {
		case c != nil:
			return c
		case errors.Is(err, io.EOF):
			close(in.ended)
			return nil
		case err != nil:
			in.err = fmt.Errorf("read: %w", err)
			close(in.ended)
			return nil
		}
	}
}

// readMessage reads and handles one message. The error is [io.EOF] when ctx has ended.
func (in *input) readMessage(ctx context.Context) (*call, error) {
	line, err := in.lines.next()
	switch {
	case ctx.Err() != nil:
		return nil, io.EOF
	case errors.Is(err, errLineTooLong):
		in.stream.refuse(ctx, &rpcError{code: mcp.INVALID_REQUEST, message: fmt.Sprintf("message longer than %d bytes", in.lines.max)})
		return nil, nil
	case err != nil:
		return nil, err
	}
	return in.stream.receive(ctx, line), nil
}
