package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

func isTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

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
		if o.err == nil {
			o.err = err
		}
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

// A statusLine is standard error on a terminal. Its last line may show progress, which
// the next write erases.
type statusLine struct {
	file *os.File

	mu    sync.Mutex
	drawn bool
}

func (s *statusLine) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw("")
	return s.file.Write(p)
}

// Fd returns the file descriptor, by which [isTerminal] detects a terminal.
func (s *statusLine) Fd() uintptr { return s.file.Fd() }

// show draws a line over the last one; "" erases it.
func (s *statusLine) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw(line)
}

func (s *statusLine) draw(line string) {
	if s.drawn || line != "" {
		fmt.Fprintf(s.file, "\r\x1b[K%s", line)
	}
	s.drawn = line != ""
}

// width returns the number of columns that a line may have.
func (s *statusLine) width() int {
	if columns, _, err := term.GetSize(int(s.file.Fd())); err == nil && columns > 0 {
		return columns - 1 // the last one moves the cursor
	}
	return 79
}

// newProgress returns report, which shows the progress of preparations: on a terminal
// in a line that is redrawn, and elsewhere in a few lines. done erases the line.
func newProgress(stderr io.Writer) (report func(message string), done func()) {
	if s, ok := stderr.(*statusLine); ok {
		return func(message string) { s.show(bar(message, s.width())) }, func() { s.show("") }
	}
	q := &quarters{out: stderr}
	return q.report, func() {}
}

// amount matches a message about the progress of a pull.
var amount = lazyregexp.New(`^(.*): (\d+) of (\d+) MB$`)

// bar renders a message in at most width columns, with a bar if it has an amount. Words
// that do not fit are cut.
func bar(message string, width int) string {
	told := amount.FindStringSubmatch(message)
	if told == nil {
		return oneLine(message, width)
	}
	const cells = 10
	have, _ := strconv.Atoi(told[2])
	total, _ := strconv.Atoi(told[3])
	full := min(cells, cells*have/max(1, total))
	drawn := fmt.Sprintf(" [%s%s] %s of %s MB", strings.Repeat("#", full), strings.Repeat(" ", cells-full), told[2], told[3])
	return oneLine(told[1], max(1, width-len(drawn))) + drawn
}

// quarters writes messages, but only one for each quarter of an amount.
type quarters struct {
	out  io.Writer
	name string // of the amount
	next int    // the quarter to print next
}

func (q *quarters) report(message string) {
	if told := amount.FindStringSubmatch(message); told != nil {
		if told[1] != q.name {
			q.name, q.next = told[1], 1
		}
		have, _ := strconv.Atoi(told[2])
		total, _ := strconv.Atoi(told[3])
		reached := 4 * have / max(1, total)
		if reached < q.next {
			return
		}
		q.next = reached + 1
	}
	fmt.Fprintln(q.out, message)
}
