package elicit

import (
	"bytes"
	"io"
	"sync"
)

// A questionFilter removes questions from a stream and passes them to ask. It holds back
// the beginning of a line that may be one, and passes all else on at once.
type questionFilter struct {
	out io.Writer
	ask func(line []byte) // must not block

	mu      sync.Mutex // a driver may still write when the command has ended
	held    []byte     // the beginning of a line
	passing bool       // the line is output, or, where dropping, nothing
	drop    bool
	closed  bool
}

// Write filters a part of the stream. It never fails.
func (s *questionFilter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		part, ended := rest, false
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			part, ended = rest[:end+1], true
		}
		rest = rest[len(part):]
		s.take(part, ended)
	}
	return len(p), nil
}

// take filters a part of one line; ended is true for its last.
func (s *questionFilter) take(part []byte, ended bool) {
	switch {
	case s.passing:
		s.pass(part)
	case len(s.held) == 0 && !mayAsk(part):
		s.passing = true
		s.pass(part)
	default:
		s.held = append(s.held, part...)
		s.decide(ended)
	}
	if ended {
		s.held, s.passing, s.drop = nil, false, false
	}
}

// decide passes or asks the line that is held, when it has ended or is too long.
func (s *questionFilter) decide(ended bool) {
	switch {
	case !mayAsk(s.held):
		s.passing = true
		s.pass(s.held)
	case !ended && len(s.held) <= maxLine:
		return
	case isQuestion(s.held):
		s.ask(s.held)
		s.passing, s.drop = true, true // also the rest of one that is too long
	default:
		s.passing = true
		s.pass(s.held)
	}
	s.held = nil
}

// mayAsk reports whether a line with this beginning may be a question.
func mayAsk(beginning []byte) bool {
	trimmed := bytes.TrimLeft(beginning, " \t\r\n")
	return len(beginning)-len(trimmed) <= maxIndent && (len(trimmed) == 0 || trimmed[0] == '{')
}

func (s *questionFilter) pass(p []byte) {
	if !s.drop {
		_, _ = s.out.Write(p)
	}
}

// Close passes on the line that is held, unless it is a question, which comes too late
// for an answer.
func (s *questionFilter) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !isQuestion(s.held) {
		s.pass(s.held)
	}
	s.held, s.closed = nil, true
	return nil
}
