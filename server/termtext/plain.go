// Package termtext sanitizes a stranger's text for terminals, clients and models: it
// removes escape sequences, and characters that a person does not see. Start with
// [Text], with [NewWriter] for a stream, or with [JSON] for a message.
package termtext

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Text returns the visible characters, line ends and tabs of s. Bytes that are no UTF-8
// become U+FFFD.
func Text(s string) string {
	var f filter
	return strings.Map(f.next, s)
}

// Line returns a text as one line of visible characters, in at most limit bytes.
func Line(text string, limit int) string {
	if len(text) > 8*limit { // white space folds, but not for ever
		text = strings.ToValidUTF8(text[:8*limit], "")
	}
	return truncate.String(strings.Join(strings.Fields(Text(text)), " "), limit)
}

// A Writer sanitizes a stream. It is for one goroutine.
type Writer struct {
	w       io.Writer
	filter  filter
	partial []byte // the first bytes of a character
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes the sanitized p. The beginning of a character at its end waits for the
// rest.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.partial, p...)
	end := len(text)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	w.partial = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(w.w, strings.Map(w.filter.next, string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A filter is the state of a parser of ECMA-48's escape sequences.
type filter struct {
	state state
	prev  rune // the last one that was not removed
}

type state int

const (
	text    state = iota
	escape        // after ESC
	control       // in a control sequence, after ESC [
	str           // in a control string, such as a window's title, after ESC ]
	strEsc        // after an ESC in one, which may end it
)

// next returns the character, or -1 to remove it.
func (f *filter) next(r rune) rune {
	if r == '\n' { // ends whatever was begun: nothing swallows more than a line
		f.state, f.prev = text, r
		return r
	}
	switch f.state {
	case escape:
		f.escaped(r)
	case strEsc:
		if f.state = text; r != '\\' {
			f.escaped(r)
		}
	case control:
		if r >= '@' && r <= '~' {
			f.state = text
		} else if r == 0x1b {
			f.state = escape
		}
	case str:
		if r == 0x1b {
			f.state = strEsc
		} else if r == '\a' || r == 0x9c {
			f.state = text
		}
	default:
		return f.plain(r)
	}
	return -1
}

// escaped handles the character after ESC.
func (f *filter) escaped(r rune) {
	switch {
	case r == '[':
		f.state = control
	case strings.ContainsRune("]PX^_", r):
		f.state = str
	case r == 0x1b, r >= ' ' && r <= '/': // it goes on
		f.state = escape
	default:
		f.state = text
	}
}

func (f *filter) plain(r rune) rune {
	switch {
	case r == 0x1b:
		f.state = escape
	case r == 0x9b: // the same sequences, begun by one character
		f.state = control
	case r == 0x90, r == 0x98, r >= 0x9d && r <= 0x9f:
		f.state = str
	case unicode.In(r, unicode.Zl, unicode.Zp): // a line's end, to some
		return f.next('\n')
	case !skills.IsHidden(f.prev, r):
		f.prev = r
		return r
	}
	return -1
}
