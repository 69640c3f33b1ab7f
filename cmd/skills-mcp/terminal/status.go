package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/scriptio"
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

const (
	redrawTime = 50 * time.Millisecond // between two drawings of a skill's progress
	maxStep    = 1 << 10               // bytes of a line of progress
)

// A Progress writes the standard error of the skill name to a status line's terminal. Lines
// "3/10 message" are drawn as a bar; all others are written as they come. It is for one
// goroutine.
type Progress struct {
	name   string
	status *Status
	out    io.Writer // sanitizes

	line   []byte // that may be progress, without its end so far
	passes bool   // the line is none
	after  byte   // the end of the line before, if that was progress
	drawn  time.Time
}

// NewProgress returns a Progress of a skill. The caller must close it.
func NewProgress(name string, s *Status) *Progress {
	return &Progress{name: name, status: s, out: termtext.NewWriter(s)}
}

// Write writes a part of the stream. A carriage return ends a line, too.
func (w *Progress) Write(p []byte) (int, error) {
	begin := 0 // of the bytes of p that pass
	for i, b := range p {
		ends := b == '\n' || b == '\r'
		if w.passes {
			w.passes = !ends
			continue
		}
		w.pass(p[begin:i])
		begin = i + 1
		if ends && w.step() {
			w.line, w.after = w.line[:0], b
			continue
		}
		if second := b == '\n' && w.after == '\r' && len(w.line) == 0; second {
			w.after = 0
			continue
		}
		w.after = 0
		if w.line = append(w.line, b); ends || len(w.line) > maxStep || !mayCount(string(w.line)) {
			w.pass(w.line)
			w.line, w.passes = w.line[:0], !ends
		}
	}
	w.pass(p[begin:])
	return len(p), nil
}

func (w *Progress) pass(p []byte) {
	if len(p) > 0 {
		_, _ = w.out.Write(p) // a terminal that is gone ends the program
	}
}

// step draws the line as progress, and reports whether it is.
func (w *Progress) step() bool {
	p, ok := scriptio.ParseProgress(string(w.line))
	if ok && (time.Since(w.drawn) >= redrawTime || p.Done == p.Total) {
		w.drawn = time.Now()
		label := w.name
		if p.Message != "" {
			label = p.Message
		}
		number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
		w.status.Show(label + ": " + number(p.Done) + " of " + number(p.Total))
	}
	return ok
}

// Close writes a last line that has no end, and erases the bar.
func (w *Progress) Close() error {
	if _, counts := scriptio.ParseProgress(string(w.line)); !counts {
		w.pass(w.line)
	}
	w.line = nil
	w.status.Show("")
	return nil
}

// mayCount reports whether a line may begin with an amount N/M.
func mayCount(line string) bool {
	head, _, ended := strings.Cut(strings.TrimLeft(line, " "), " ")
	done, total, slash := strings.Cut(head, "/")
	return strings.Trim(done+total, "0123456789.") == "" && (slash && total != "" || !ended)
}
