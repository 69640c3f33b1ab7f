package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
)

var errLineTooLong = errors.New("line too long")

// lineReader cuts a stream into lines of at most max bytes. mcp-go's reader
// takes lines of any length.
type lineReader struct {
	r   *bufio.Reader
	max int
	err error // sticky, so that a terminal is not read on after its end

	long *envelope // of the last line that was too long
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next returns the next line in memory of its own, without its end ("\n" or
// "\r\n"). The last line needs no end. For a line above the limit it returns
// errLineTooLong; the reading goes on with the line after it.
func (l *lineReader) next() ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	var line []byte
	tooLong := false
	for more := true; more; {
		part, err := l.r.ReadSlice('\n')
		switch {
		case tooLong:
			l.long.feed(part)
		case len(line)+len(part) > l.max+len("\r\n"):
			tooLong, l.long = true, envelopeOf(line)
			l.long.feed(part)
			line = nil
		default:
			line = append(line, part...)
		}
		if more = err == bufio.ErrBufferFull; !more {
			l.err = err
		}
	}
	if len(line) == 0 && !tooLong && l.err != nil {
		return nil, l.err
	}
	if line = trimEnd(line); !tooLong && len(line) > l.max {
		tooLong, l.long = true, envelopeOf(line)
	}
	if tooLong {
		return nil, errLineTooLong
	}
	return line, nil
}

func trimEnd(line []byte) []byte {
	line, _ = bytes.CutSuffix(line, []byte("\n"))
	line, _ = bytes.CutSuffix(line, []byte("\r"))
	return line
}

// read handles the messages of r until it ends, which is no error, or ctx is
// done.
func (s *stream) read(ctx context.Context, r io.Reader, maxLine int) error {
	lines := newLineReader(r, maxLine)
	for {
		line, err := lines.next()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errLineTooLong):
			m, f := unreadable(lines.long, mcp.INVALID_REQUEST, fmt.Sprintf("message longer than %d bytes", maxLine))
			s.received(ctx, m, f)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		default:
			s.receive(ctx, line)
		}
	}
}

// interruptible makes pending calls on stream return, by expire, else by
// Close, and reports whether it could. It does not close files: on the
// standard streams that frees nobody, and on some systems it waits itself.
func interruptible[D any](stream any, expire func(D) error) bool {
	if d, ok := stream.(D); ok && expire(d) == nil {
		return true
	}
	if _, ok := stream.(*os.File); ok {
		return false
	}
	c, ok := stream.(io.Closer)
	return ok && c.Close() == nil
}
