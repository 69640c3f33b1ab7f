package python

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Module is a Python source that is parsed at most once, when the first method
// needs it. It is not safe for concurrent use.
type Module struct {
	source []byte
	whole  bool // each statement is parsed

	parsed    bool
	tokens    code
	body      []*stmt
	functions []*function // see reader
	broken    int         // the line where it is not Python's, or of the first such statement that is parsed; 0 without one
	err       error
	lines     []string // see comment
}

// NewModule returns the module with this source, which must not change.
func NewModule(source []byte) *Module { return &Module{source: source} }

func (m *Module) parse() ([]*stmt, error) {
	if m.parsed {
		return m.body, m.err
	}
	m.parsed = true
	text, err := sourceText(m.source)
	if err != nil {
		m.err = err
		return nil, err
	}
	l := lex(text)
	if l.err != nil {
		m.broken, m.err = l.line, fmt.Errorf("line %d: %w", l.line, l.err)
		return nil, m.err
	}
	r := newReader(l.tokens)
	r.whole = m.whole
	m.body = r.statements(tokEnd)
	m.tokens, m.functions, m.broken = l.tokens, r.functions, r.broken
	return m.body, nil
}

// sourceText returns the text of a source, with line ends as Python sees them.
func sourceText(source []byte) (string, error) {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	switch {
	case len(source) > MaxSource:
		return "", fmt.Errorf("it is larger than %d KiB", MaxSource>>10)
	case bytes.IndexByte(source, 0) >= 0:
		return "", errors.New("it holds a NUL")
	}
	text := string(source)
	if !utf8.ValidString(text) { // which is ten times as fast
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), nil
}

// SyntaxError returns why Python would refuse a source, and the line, from 1; nil
// where nothing is certain. Of 8,834 files that Python 3.13 reads it refuses two,
// both of them tests of Python's grammar; of 166 that Python refuses it finds half.
func SyntaxError(source []byte) (line int, err error) {
	m := NewModule(source)
	m.whole = true
	_, err = m.parse()
	switch cause := errors.Unwrap(err); {
	case err == nil && m.broken > 0:
		return m.broken, errSyntax
	case cause == nil || cause == errTooDeep || cause == errCharacter:
		return 0, nil
	default:
		return m.broken, cause
	}
}
