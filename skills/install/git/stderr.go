package git

import (
	"bytes"
	"strconv"
	"strings"
	"sync/atomic"
)

// A stderrReader reads the standard error of a git process.
type stderrReader struct {
	progress func(done, total int64) // nil is none
	seen     atomic.Int64            // bytes
	line     []byte                  // the current one
	lines    []byte                  // those that are no progress
}

// maxStderr bounds the text of an error in bytes.
const maxStderr = 8 << 10

// Write reads what git prints: progress, and lines of errors.
func (s *stderrReader) Write(p []byte) (int, error) {
	s.seen.Add(int64(len(p)))
	for _, b := range p {
		if b != '\r' && b != '\n' {
			if len(s.line) < maxStderr {
				s.line = append(s.line, b)
			}
			continue
		}
		s.endLine()
	}
	return len(p), nil
}

func (s *stderrReader) endLine() {
	line := string(s.line)
	s.line = s.line[:0]
	if done, total, ok := parseProgress(line); ok {
		if s.progress != nil {
			s.progress(done, total)
		}
		return
	}
	s.lines = append(s.lines, line...)
	s.lines = append(s.lines, '\n')
	if len(s.lines) > maxStderr {
		s.lines = s.lines[len(s.lines)-maxStderr:]
	}
}

// text returns the errors. It is called after the process has ended.
func (s *stderrReader) text() string {
	s.endLine()
	return string(bytes.TrimSpace(s.lines))
}

// parseProgress reads a line such as "Receiving objects:  45% (9/20), 1.20 MiB".
func parseProgress(line string) (done, total int64, ok bool) {
	title, rest, found := strings.Cut(line, ": ")
	if !found || !strings.Contains(rest, "%") {
		return 0, 0, false
	}
	_, counts, _ := strings.Cut(rest, "(")
	counts, _, _ = strings.Cut(counts, ")")
	first, second, _ := strings.Cut(counts, "/")
	done, err1 := strconv.ParseInt(first, 10, 64)
	total, err2 := strconv.ParseInt(second, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, false
	}
	return done, total, title == "Receiving objects"
}
