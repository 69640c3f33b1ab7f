package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// A Status is standard error on a terminal that understands control sequences. Its last
// line may show progress, which the next write erases.
type Status struct {
	file *os.File

	mu      sync.Mutex
	drawn   bool
	midline bool // the last line that was written has no end: nothing is drawn over it
}

// NewStatus returns a status line on a terminal.
func NewStatus(file *os.File) *Status { return &Status{file: file} }

// Write erases the line, and writes p.
func (s *Status) Write(p []byte) (int, error) { return s.write(s.file, p) }

// Fd returns the file descriptor, by which [Is] detects a terminal.
func (s *Status) Fd() uintptr { return s.file.Fd() }

// Show draws a message in place of the last one, in one line; "" erases it.
func (s *Status) Show(message string) {
	line := ""
	if message != "" {
		line = Bar(message, cmp.Or(Of(s.file).Width, 80)-1) // the last column moves the cursor
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw(line)
}

// Beside returns a writer to another stream on the same terminal.
func (s *Status) Beside(w io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) { return s.write(w, p) })
}

func (s *Status) write(w io.Writer, p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw("")
	if len(p) > 0 {
		s.midline = p[len(p)-1] != '\n'
	}
	return w.Write(p)
}

// draw draws a line and returns the cursor to its beginning. From there everything below is
// erased: so nothing is left of a line that a narrower terminal has wrapped meanwhile.
func (s *Status) draw(line string) {
	if s.midline || !s.drawn && line == "" {
		return
	}
	fmt.Fprintf(s.file, "\r\x1b[J%s\r", line)
	s.drawn = line != ""
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Amount parses a message "NAME: 3 of 10 MB", or without a unit; ok is false for another.
func Amount(message string) (name string, done, total float64, ok bool) {
	at := strings.LastIndex(message, ": ")
	if at < 0 {
		return "", 0, 0, false
	}
	amount, _ := strings.CutSuffix(message[at+2:], " MB")
	first, last, ok := strings.Cut(amount, " of ")
	done, err := strconv.ParseFloat(first, 64)
	total, err2 := strconv.ParseFloat(last, 64)
	const most = 1e15 // neither NaN nor infinite
	return message[:at], done, total, ok && err == nil && err2 == nil && done >= 0 && total >= 0 && done+total < most
}

// Bar renders a message in at most so many columns, with a bar if it has an amount. Words
// that do not fit are cut.
func Bar(message string, columns int) string {
	message = strings.Join(strings.Fields(termtext.Text(message)), " ")
	name, done, total, ok := Amount(message)
	if !ok {
		return Cut(message, columns)
	}
	const cells = 10
	full := 0
	if total > 0 {
		full = int(cells * max(0, min(1, done/total)))
	}
	drawn := fmt.Sprintf(" [%s%s] %s", strings.Repeat("#", full), strings.Repeat(" ", cells-full), message[len(name)+2:])
	return Cut(Cut(name, max(1, columns-Width(drawn)))+drawn, columns)
}
