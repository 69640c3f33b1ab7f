package syntax

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A TokenKind is the class of a token.
type TokenKind int

// Kinds of tokens.
const (
	EndToken TokenKind = iota
	newlineToken
	indentToken
	dedentToken
	NameToken
	numberToken
	StringToken // a literal that is not formatted
	FormatToken // the prefix and the quotes at the start of an f-string
	TextToken   // the text of an f-string between its fields, or of a field's format
	QuotesToken // the quotes at the end of an f-string
	OpToken     // or a keyword
)

// A Token is one of Python's lexical analysis. Text is the source.
type Token struct {
	Kind TokenKind
	Line int
	Text string
}

// Bounds of a source. CPython's parser ends at 200 brackets and 100 blocks
// (MAXINDENT), its compiler at a depth of a few thousand.
const (
	maxIndents = 100
	maxNesting = 200
	maxDepth   = 1000
)

var (
	errUnclosedString = errors.New("a string is not closed")
	errBrackets       = errors.New("a bracket is not closed, or closed twice")
	errIndent         = errors.New("the indentation fits no block")
	errTooDeep        = errors.New("it nests too deeply")
	errCharacter      = errors.New("a character is none of Python's")
)

// A lexer splits a source into tokens.
type lexer struct {
	src     string
	pos     int
	line    int
	tokens  []Token
	open    []opening
	indents []int // columns of open blocks
	err     error // on this line
}

// An opening is a bracket that is not closed yet, or a part of an f-string: its
// text f, a field F in it, or the format : of a field. Kind s is any other string.
type opening struct {
	kind   byte
	quotes string // of the f-string
	raw    bool   // it has no escapes
}

// lex returns a lexer at the end of a source. The last token is [EndToken].
func lex(src string) *lexer {
	l := &lexer{src: src, line: 1, indents: []int{0}, tokens: make([]Token, 0, len(src)/4+2)}
	for l.err == nil && l.indentation() {
		l.logicalLine()
	}
	l.closeBlocks(0)
	l.emit(EndToken, 0)
	return l
}

func (l *lexer) emit(kind TokenKind, length int) {
	l.tokens = append(l.tokens, Token{kind, l.line, l.src[l.pos : l.pos+length]})
	l.pos += length
}

// emitText emits a token that may have line ends in it.
func (l *lexer) emitText(kind TokenKind, length int) {
	l.emit(kind, length)
	l.line += strings.Count(l.src[l.pos-length:l.pos], "\n")
}

func (l *lexer) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// indentation skips blank lines, and opens or closes blocks before the first other
// line. It reports whether there is one.
func (l *lexer) indentation() bool {
	for {
		column := l.skipIndent()
		switch {
		case l.pos == len(l.src):
			return false
		case l.src[l.pos] == '#':
			l.skipComment()
		case l.src[l.pos] == '\n':
			l.pos++
			l.line++
		case column <= l.indents[len(l.indents)-1]:
			l.closeBlocks(column)
			return true
		case len(l.indents) > maxIndents:
			l.fail(errTooDeep)
			return true
		default:
			l.indents = append(l.indents, column)
			l.emit(indentToken, 0)
			return true
		}
	}
}

// skipIndent skips the blanks at the start of a line and returns the column after
// them, as CPython counts it: tabs go to multiples of eight.
func (l *lexer) skipIndent() (column int) {
	for ; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case ' ':
			column++
		case '\t':
			column = (column/8 + 1) * 8
		case '\f':
			column = 0
		default:
			return column
		}
	}
	return column
}

// closeBlocks closes the blocks that begin right of a column.
func (l *lexer) closeBlocks(column int) {
	for column < l.indents[len(l.indents)-1] {
		l.indents = l.indents[:len(l.indents)-1]
		l.emit(dedentToken, 0)
	}
	if column != l.indents[len(l.indents)-1] {
		l.fail(errIndent)
	}
}

// logicalLine splits the source up to the end of a line that is outside of brackets
// and strings.
func (l *lexer) logicalLine() {
	for l.err == nil {
		if o := l.top(); o.kind == 'f' || o.kind == ':' {
			l.text(o)
			continue
		}
		l.skipBlanks()
		switch {
		case l.pos < len(l.src) && l.src[l.pos] != '\n':
			l.scan()
		case len(l.open) > 0:
			l.fail(errBrackets)
		default:
			l.emitText(newlineToken, min(1, len(l.src)-l.pos))
			return
		}
	}
}

func (l *lexer) top() opening {
	if len(l.open) == 0 {
		return opening{}
	}
	return l.open[len(l.open)-1]
}

// skipBlanks skips blanks, comments and line ends between the tokens of one
// logical line.
func (l *lexer) skipBlanks() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.pos++
		case c == '#':
			l.skipComment()
		case c == '\\' && strings.HasPrefix(l.src[l.pos:], "\\\n"):
			l.pos += 2
			l.line++
		case c == '\n' && len(l.open) > 0:
			l.pos++
			l.line++
		default:
			return
		}
	}
}

func (l *lexer) skipComment() {
	if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.src)
	}
}

func (l *lexer) scan() {
	rest := l.src[l.pos:]
	switch c := rest[0]; {
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		l.emit(numberToken, numberLength(rest))
		return
	case c == '"' || c == '\'':
		l.literal(0)
		return
	}
	n := nameLength(rest)
	switch {
	case n == 0:
		l.operator(rest)
	case n <= 2 && n < len(rest) && (rest[n] == '"' || rest[n] == '\'') && isStringPrefix(rest[:n]):
		l.literal(n)
	case isKeyword(rest[:n]):
		l.emit(OpToken, n)
	default:
		l.emit(NameToken, n)
	}
}

func isKeyword(name string) bool {
	switch name {
	case "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
		"import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}

// isLetter has the ASCII letters of names.
var isLetter = [256]bool{
	'_': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true, 'K': true, 'L': true, 'M': true,
	'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true, 'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true, 'k': true, 'l': true, 'm': true,
	'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true, 'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isStringPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	}
	return false
}

// nameLength returns the length of the name that s begins with. Few have characters
// that are not ASCII.
func nameLength(s string) int {
	n := 0
	for n < len(s) && isLetter[s[n]] || n > 0 && n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == len(s) || s[n] < utf8.RuneSelf {
		return n
	}
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
	hex := len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c), c == '_', c == '.', 'a' <= c|0x20 && c|0x20 <= 'z':
		case (c == '+' || c == '-') && !hex && i > 0 && s[i-1]|0x20 == 'e':
		default:
			return i
		}
	}
	return len(s)
}

// literal scans a string whose quotes come after a prefix. Of an f-string it scans
// the start.
func (l *lexer) literal(prefix int) {
	rest := l.src[l.pos:]
	letters, quotes := rest[:prefix], rest[prefix:prefix+1]
	if len(rest) > prefix+2 && rest[prefix+1] == quotes[0] && rest[prefix+2] == quotes[0] {
		quotes = rest[prefix : prefix+3]
	}
	start := prefix + len(quotes)
	o := opening{'s', quotes, strings.ContainsAny(letters, "rR")}
	if strings.ContainsAny(letters, "fFtT") {
		o.kind = 'f'
		l.push(o)
		l.emit(FormatToken, start)
	} else if n := o.textLength(rest[start:]); n < 0 {
		l.fail(errUnclosedString)
	} else {
		l.emitText(StringToken, start+n+len(quotes))
	}
}

func (l *lexer) push(o opening) {
	if l.open = append(l.open, o); len(l.open) > maxNesting {
		l.fail(errTooDeep)
	}
}

// pop closes the last opening; where it does not fit, it fails.
func (l *lexer) pop(fits bool, err error) {
	if fits {
		l.open = l.open[:len(l.open)-1]
	} else {
		l.fail(err)
	}
}

// textLength returns the length of the text that s starts with, up to the quotes, or
// to a brace in an f-string; -1 where it does not end.
func (o opening) textLength(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && (o.kind == 's' || i+1 < len(s) && s[i+1] != '{' && s[i+1] != '}'):
			if i++; o.kind != 's' && !o.raw && strings.HasPrefix(s[i:], "N{") {
				i += max(0, strings.IndexByte(s[i:], '}'))
			}
		case c == o.quotes[0] && strings.HasPrefix(s[i:], o.quotes):
			return i
		case c == '\n' && len(o.quotes) == 1:
			return -1
		case (c == '{' || c == '}') && o.kind != 's':
			if o.kind == ':' || i+1 == len(s) || s[i+1] != c {
				return i
			}
			i++
		}
	}
	return -1
}

// text scans text of an f-string, and the brace or the quotes at its end.
func (l *lexer) text(o opening) {
	n := o.textLength(l.src[l.pos:])
	if n < 0 {
		l.fail(errUnclosedString)
		return
	}
	if n > 0 {
		l.emitText(TextToken, n)
	}
	switch l.src[l.pos] {
	case '{':
		l.push(opening{'F', o.quotes, o.raw})
		l.emit(OpToken, 1)
	case '}':
		l.pop(o.kind == ':', errBrackets)
		l.emit(OpToken, 1)
	default:
		l.pop(o.kind == 'f', errUnclosedString)
		l.emit(QuotesToken, len(o.quotes))
	}
}

// operators have more than one character; the longest come first.
var operators = [...]string{"**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "<>"}

func (l *lexer) operator(rest string) {
	o := l.top()
	if o.kind == 'F' && rest[0] == ':' {
		l.open[len(l.open)-1].kind = ':'
	} else if len(rest) > 1 && strings.IndexByte("*/><.=!-:+%&|^@", rest[0]) >= 0 && strings.IndexByte("*/><.=", rest[1]) >= 0 {
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				l.emit(OpToken, len(op))
				return
			}
		}
	}
	switch c := rest[0]; c {
	case '(', '[', '{':
		l.push(opening{kind: c})
	case ')', ']', '}':
		l.pop(o.kind == '(' && c == ')' || o.kind == '[' && c == ']' || (o.kind == '{' || o.kind == 'F') && c == '}', errBrackets)
	case '+', '-', '*', '/', '%', '@', '&', '|', '^', '~', '<', '>', ',', ':', '.', ';', '=', '!', '`', '$', '?':
	default:
		l.fail(errCharacter)
	}
	l.emit(OpToken, 1)
}
