package python

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokEnd tokenKind = iota
	tokNewline
	tokIndent
	tokDedent
	tokName
	tokNumber
	tokString
	tokOp
)

// A token is one of Python's lexical analysis. Text is the source, with the
// prefix and the quotes of a string.
type token struct {
	kind tokenKind
	text string
	line int
}

// maxIndents is CPython's own limit of nested blocks (MAXINDENT).
const maxIndents = 100

var (
	errUnclosedString = errors.New("a string is not closed")
	errBrackets       = errors.New("a bracket is not closed, or closed twice")
	errIndent         = errors.New("the indentation fits no block")
	errTooDeep        = errors.New("it nests too deeply")
	errCharacter      = errors.New("a character is none of Python's")
)

// A lexer splits a source into tokens, each once.
type lexer struct {
	src     string
	pos     int
	line    int
	nesting []byte // open brackets
	indents []int  // columns of open blocks
	pending int    // dedents still to be told
	fresh   bool   // at the start of a logical line
	err     error
}

func newLexer(src string) *lexer {
	return &lexer{src: src, line: 1, indents: []int{0}, fresh: true}
}

// next returns the following token. After the end, and after an error, it
// returns tokEnd for ever.
func (l *lexer) next() token {
	if l.err != nil {
		return token{kind: tokEnd, line: l.line}
	}
	if l.pending > 0 {
		l.pending--
		return token{kind: tokDedent, line: l.line}
	}
	if l.fresh && len(l.nesting) == 0 {
		if tok, ok := l.indentation(); ok {
			return tok
		}
	}
	l.skipBlanks()
	if l.pos >= len(l.src) {
		return l.end()
	}
	return l.scan()
}

func (l *lexer) fail(err error) token {
	l.err = err
	return token{kind: tokEnd, line: l.line}
}

// end closes the last line and the open blocks.
func (l *lexer) end() token {
	if len(l.nesting) > 0 {
		return l.fail(errBrackets)
	}
	if !l.fresh {
		l.fresh = true
		return token{kind: tokNewline, line: l.line}
	}
	if len(l.indents) > 1 {
		l.indents = l.indents[:len(l.indents)-1]
		return token{kind: tokDedent, line: l.line}
	}
	return token{kind: tokEnd, line: l.line}
}

// indentation passes blank lines and tells whether the first other line opens
// or closes blocks.
func (l *lexer) indentation() (token, bool) {
	for l.pos < len(l.src) {
		column, at := measure(l.src, l.pos)
		l.pos = at
		if at < len(l.src) && (l.src[at] == '#' || l.src[at] == '\n') {
			l.skipLine()
			continue
		}
		if at == len(l.src) {
			return token{}, false
		}
		l.fresh = false
		return l.block(column)
	}
	return token{}, false
}

// measure returns the column of a line's first character, as CPython counts it
// (tabs to multiples of eight), and where it is.
func measure(src string, at int) (column, end int) {
	for ; at < len(src); at++ {
		switch src[at] {
		case ' ':
			column++
		case '\t':
			column = (column/8 + 1) * 8
		case '\f':
			column = 0
		default:
			return column, at
		}
	}
	return column, at
}

func (l *lexer) skipLine() {
	if i := strings.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
		l.pos += i + 1
		l.line++
		return
	}
	l.pos = len(l.src)
}

func (l *lexer) block(column int) (token, bool) {
	top := l.indents[len(l.indents)-1]
	switch {
	case column == top:
		return token{}, false
	case column > top:
		if len(l.indents) > maxIndents {
			return l.fail(errTooDeep), true
		}
		l.indents = append(l.indents, column)
		return token{kind: tokIndent, line: l.line}, true
	}
	for column < l.indents[len(l.indents)-1] {
		l.indents = l.indents[:len(l.indents)-1]
		l.pending++
	}
	if column != l.indents[len(l.indents)-1] {
		return l.fail(errIndent), true
	}
	l.pending--
	return token{kind: tokDedent, line: l.line}, true
}

// skipBlanks passes blanks, comments and line ends between the tokens of one
// logical line.
func (l *lexer) skipBlanks() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.pos++
		case c == '#':
			if i := strings.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
				l.pos += i
			} else {
				l.pos = len(l.src)
			}
		case c == '\\' && strings.HasPrefix(l.src[l.pos:], "\\\n"):
			l.pos += 2
			l.line++
		case c == '\n' && len(l.nesting) > 0:
			l.pos++
			l.line++
		default:
			return
		}
	}
}

func (l *lexer) scan() token {
	c := l.src[l.pos]
	switch {
	case c == '\n':
		tok := token{kind: tokNewline, line: l.line}
		l.pos++
		l.line++
		l.fresh = true
		return tok
	case isDigit(c), c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		return l.take(tokNumber, numberLength(l.src[l.pos:]))
	case c == '"' || c == '\'':
		return l.stringToken(0)
	}
	if n := nameLength(l.src[l.pos:]); n > 0 {
		if rest := l.src[l.pos+n:]; n <= 2 && rest != "" && (rest[0] == '"' || rest[0] == '\'') && isStringPrefix(l.src[l.pos:l.pos+n]) {
			return l.stringToken(n)
		}
		return l.take(tokName, n)
	}
	return l.operator()
}

func (l *lexer) take(kind tokenKind, n int) token {
	tok := token{kind, l.src[l.pos : l.pos+n], l.line}
	l.pos += n
	return tok
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isStringPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	}
	return false
}

func nameLength(s string) int {
	for i, r := range s {
		if r == '_' || r < utf8.RuneSelf && ('a' <= r|0x20 && r|0x20 <= 'z') || i > 0 && '0' <= r && r <= '9' {
			continue
		}
		if r >= utf8.RuneSelf && (unicode.IsLetter(r) || i > 0 && (unicode.IsDigit(r) || unicode.IsMark(r))) {
			continue
		}
		return i
	}
	return len(s)
}

// numberLength returns the length of a number, right or not; the value is
// judged where it is needed.
func numberLength(s string) int {
	hex := len(s) > 1 && s[0] == '0' && (s[1]|0x20 == 'x')
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case isDigit(c), c == '_', c == '.', 'a' <= c|0x20 && c|0x20 <= 'z':
		case (c == '+' || c == '-') && !hex && i > 0 && s[i-1]|0x20 == 'e':
		default:
			return i
		}
	}
	return i
}

// operators have more than one character; the longest come first.
var operators = [...]string{"**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "<>"}

func (l *lexer) operator() token {
	rest := l.src[l.pos:]
	if len(rest) > 1 && strings.IndexByte("*/><.=!-:+%&|^@", rest[0]) >= 0 && strings.IndexByte("*/><.=", rest[1]) >= 0 {
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				return l.take(tokOp, len(op))
			}
		}
	}
	switch c := rest[0]; c {
	case '(', '[', '{':
		if len(l.nesting) == maxNesting {
			return l.fail(errTooDeep)
		}
		l.nesting = append(l.nesting, c)
	case ')', ']', '}':
		if !l.closes(c) {
			return l.fail(errBrackets)
		}
		l.nesting = l.nesting[:len(l.nesting)-1]
	case '+', '-', '*', '/', '%', '@', '&', '|', '^', '~', '<', '>', ',', ':', '.', ';', '=', '!', '`', '$', '?':
	default:
		return l.fail(errCharacter)
	}
	return l.take(tokOp, 1)
}

func (l *lexer) closes(c byte) bool {
	if len(l.nesting) == 0 {
		return false
	}
	open := l.nesting[len(l.nesting)-1]
	return open == '(' && c == ')' || open == '[' && c == ']' || open == '{' && c == '}'
}

// stringToken takes a string whose quotes start after a prefix.
func (l *lexer) stringToken(prefix int) token {
	formatted := strings.ContainsAny(l.src[l.pos:l.pos+prefix], "fFtT")
	n := stringLength(l.src[l.pos+prefix:], formatted, 0)
	if n < 0 {
		return l.fail(errUnclosedString)
	}
	tok := l.take(tokString, prefix+n)
	l.line += strings.Count(tok.text, "\n")
	return tok
}

// Bounds of one expression. Python's own parser ends at 200 brackets, and its
// compiler at a depth of a few thousand.
const (
	maxNesting = 200
	maxDepth   = 1000
)
