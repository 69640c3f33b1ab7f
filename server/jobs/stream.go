package jobs

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A stream passes the output of a command on as text. A character that comes in two
// pieces is passed on whole.
type stream struct {
	pass func(text string) // must not block

	mu   sync.Mutex
	rest []byte // the beginning of a character
}

// Write implements io.Writer. It never fails.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Concat(s.rest, p)
	whole := len(all) - len(partial(all))
	s.rest = all[whole:]
	s.emit(all[:whole])
	return len(p), nil
}

// flush passes on what is left.
func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit(s.rest)
	s.rest = nil
}

func (s *stream) emit(data []byte) {
	if len(data) > 0 {
		s.pass(strings.ToValidUTF8(string(data), "\ufffd"))
	}
}

// partial returns the beginning of a character at the end of data.
func partial(data []byte) []byte {
	for i := len(data) - 1; i >= max(0, len(data)-utf8.UTFMax); i-- {
		if utf8.RuneStart(data[i]) {
			if utf8.FullRune(data[i:]) {
				return nil
			}
			return data[i:]
		}
	}
	return nil
}
