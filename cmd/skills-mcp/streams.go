package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
)

func isTerminal(stream any) bool { return terminal.Is(stream) }

// An output is a standard output that is a file. It records the first error of a
// write, so that no command loses output and exits with 0.
type output struct {
	file *os.File

	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, err)
	}
	return n, err
}

// failed returns the first error of a write; nil for a nil output.
func (o *output) failed() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// unread reports whether the reader of the output is gone, which is no error: "head"
// has seen enough.
func (o *output) unread() bool { return errors.Is(o.failed(), syscall.EPIPE) }

// Fd returns the file descriptor, by which [isTerminal] detects a terminal.
func (o *output) Fd() uintptr { return o.file.Fd() }

// SetWriteDeadline lets the server interrupt a write that nobody reads.
func (o *output) SetWriteDeadline(t time.Time) error { return o.file.SetWriteDeadline(t) }

// newProgress returns report, which shows the progress of preparations: on a terminal
// in a line that is redrawn, and elsewhere in a few lines. done erases the line.
func newProgress(stderr io.Writer) (report func(message string), done func()) {
	if s, ok := stderr.(*terminal.Status); ok {
		return s.Show, func() { s.Show("") }
	}
	q := &quarters{out: stderr}
	return q.report, func() {}
}

// quarters writes messages, but only one for each quarter of an amount.
type quarters struct {
	out  io.Writer
	name string // of the amount
	next int    // the quarter to print next
}

func (q *quarters) report(message string) {
	if name, done, total, ok := terminal.Amount(message); ok {
		if name != q.name {
			q.name, q.next = name, 1
		}
		reached := int(4 * done / max(1, total))
		if reached < q.next {
			return
		}
		q.next = reached + 1
	}
	fmt.Fprintln(q.out, message)
}
