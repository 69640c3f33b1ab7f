package syntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A tokenKind is the class of a token.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokPrivate // #x
	tokString
	tokNumber
	tokRegexp
	tokTemplate // the text of a template up to its end or the next ${
	tokOperator
)

// A token is one of JavaScript or TypeScript. Line ends before it matter: a statement
// may end there.
type token struct {
	kind tokenKind
	// newline reports a line end between the token and the one before it.
	newline bool
	// last reports that a template ends with this part.
	last bool
	line int32
	pair int32  // index of the matching bracket; 0 where there is none
	text string // of a string, its value
}

func (t token) is(text string) bool { return t.text == text && t.kind == tokOperator }

func (t token) word(text string) bool { return t.text == text && t.kind == tokName }

// A Comment is the text of one, without its marks.
type Comment struct {
	Line int32 // of its start
	Text string
}

// A lexer splits a source into tokens.
type lexer struct {
	source   string
	at       int
	line     int32
	newline  bool
	tokens   []token
	open     []bracket
	comments []Comment
	slashes  int // up to here no slash begins a regular expression: one did not end
}

// A bracket is an open bracket.
type bracket struct {
	at       int  // index of its token; of a template's part for ${
	template bool // it is ${
	control  bool // the parenthesis of if, while, for or with
	value    bool // the brace of an object or a template, not of a block
}

// tokenize returns the tokens of a source, with an end at the last, and its comments.
// It skips characters that it does not know.
func tokenize(source string) ([]token, []Comment) {
	l := &lexer{source: source, line: 1, newline: true}
	if strings.HasPrefix(source, "#!") {
		l.skipLine()
	}
	for l.space(); l.at < len(source) && len(l.tokens) < maxTokens; l.space() {
		l.next()
	}
	l.add(tokEnd, "")
	return l.tokens, l.comments
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind: kind, newline: l.newline, line: l.line, text: text})
	l.newline = false
}

func (l *lexer) rest() string { return l.source[l.at:] }

func (l *lexer) skipLine() {
	if end := strings.IndexByte(l.rest(), '\n'); end >= 0 {
		l.at += end
	} else {
		l.at = len(l.source)
	}
}

// space skips white space and comments.
func (l *lexer) space() {
	for l.at < len(l.source) {
		switch c := l.source[l.at]; {
		case c == '\n':
			l.line++
			l.newline = true
			l.at++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.at++
		case c == '/' && strings.HasPrefix(l.rest(), "//"):
			start := l.at + 2
			l.skipLine()
			l.comment(l.line, l.source[start:l.at])
		case c == '/' && strings.HasPrefix(l.rest(), "/*"):
			l.block()
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(l.rest())
			if !unicode.IsSpace(r) && r != '\uFEFF' && r != '\u2028' && r != '\u2029' {
				return
			}
			l.at += size
		default:
			return
		}
	}
}

func (l *lexer) block() {
	line, text := l.line, l.rest()[2:]
	if end := strings.Index(text, "*/"); end >= 0 {
		text = text[:end]
		l.at += 4 + end
	} else {
		l.at = len(l.source)
	}
	if lines := strings.Count(text, "\n"); lines > 0 {
		l.line += int32(lines)
		l.newline = true
	}
	l.comment(line, text)
}

func (l *lexer) comment(line int32, text string) {
	if len(l.comments) < maxComments {
		l.comments = append(l.comments, Comment{line, text})
	}
}

// next reads one token.
func (l *lexer) next() {
	c := l.source[l.at]
	switch {
	case c == '"' || c == '\'':
		l.quoted(c)
	case c == '`':
		l.template(1)
	case c == '#':
		l.add(tokPrivate, l.source[l.at:l.at+1+nameLength(l.source[l.at+1:])])
		l.at += len(l.tokens[len(l.tokens)-1].text)
	case isDigit(c) || c == '.' && l.at+1 < len(l.source) && isDigit(l.source[l.at+1]):
		l.number()
	case c == '/' && l.value():
		l.regexp()
	default:
		if n := nameLength(l.rest()); n > 0 {
			l.add(tokName, l.source[l.at:l.at+n])
			l.at += n
			return
		}
		l.operator()
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nameLength returns the length of the name that a text begins with.
func nameLength(text string) int {
	for i, r := range text {
		switch {
		case r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		case r < utf8.RuneSelf && !(i > 0 && r >= '0' && r <= '9'):
			return i
		case r >= utf8.RuneSelf && (r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)):
			return i
		}
	}
	return len(text)
}

// number reads a number; the letters of its exponent, base or suffix belong to it.
func (l *lexer) number() {
	start := l.at
	for l.at < len(l.source) {
		c := l.source[l.at]
		exponent := (c == '+' || c == '-') && (l.source[l.at-1] == 'e' || l.source[l.at-1] == 'E') && !strings.HasPrefix(l.source[start:], "0x")
		if !isDigit(c) && c != '.' && c != '_' && !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') && !exponent {
			break
		}
		l.at++
	}
	text := l.source[start:l.at]
	l.at = start
	l.add(tokNumber, text)
	l.at = start + len(text)
}

// quoted reads a string. One that does not end on its line ends with it.
func (l *lexer) quoted(quote byte) {
	start, end, escaped := l.at+1, l.at+1, false
	for end < len(l.source) && l.source[end] != quote && l.source[end] != '\n' {
		if l.source[end] == '\\' && end+1 < len(l.source) {
			escaped = true
			end++
		}
		end++
	}
	end = min(end, len(l.source))
	text := l.source[start:end]
	l.add(tokString, "")
	if escaped {
		l.line += int32(strings.Count(text, "\n"))
		text = unescape(text)
	}
	l.tokens[len(l.tokens)-1].text = text
	l.at = min(end+1, len(l.source))
}

// template reads a part of a template, which begins after skip bytes.
func (l *lexer) template(skip int) {
	start := l.at + skip
	end := start
	for end < len(l.source) && l.source[end] != '`' && !strings.HasPrefix(l.source[end:], "${") {
		if l.source[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(l.source))
	l.add(tokTemplate, unescape(l.source[start:end]))
	l.line += int32(strings.Count(l.source[start:end], "\n"))
	if l.at = end + 1; end < len(l.source) && l.source[end] == '$' && len(l.open) < maxOpen {
		l.open = append(l.open, bracket{at: len(l.tokens) - 1, template: true, value: true})
		l.at++
		return
	}
	l.at = min(l.at, len(l.source))
	l.tokens[len(l.tokens)-1].last = true
}

// value reports whether an expression may begin here, so that a slash begins a
// regular expression.
func (l *lexer) value() bool {
	if len(l.tokens) == 0 {
		return true
	}
	switch last := l.tokens[len(l.tokens)-1]; last.kind {
	case tokName:
		switch last.text {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield", "instanceof":
			return true
		}
		return false
	case tokOperator:
		switch last.text {
		case ")", "}":
			return last.newValue()
		case "]", "++", "--":
			return false
		}
		return true
	case tokTemplate:
		return !last.last
	}
	return false
}

// newValue reports whether an expression may begin behind a closing bracket: that
// behind a condition or a block. The lexer marks these.
func (t token) newValue() bool { return t.last }

// regexp reads a regular expression. One that does not end on its line is an operator.
func (l *lexer) regexp() {
	class, end := false, l.at+1
	for ; l.at >= l.slashes && end < len(l.source) && l.source[end] != '\n'; end++ {
		switch c := l.source[end]; {
		case c == '\\':
			end++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			end++
			text := l.source[l.at : end+nameLength(l.source[end:])]
			l.add(tokRegexp, text)
			l.at += len(text)
			return
		}
	}
	l.slashes = max(l.slashes, end)
	l.add(tokOperator, "/")
	l.at++
}

// operators lists the operators of more than one character, the longest first.
var operators = [...]string{
	">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=",
	"=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**",
}

// isAssignment reports whether an operator assigns.
func isAssignment(text string) bool {
	switch text {
	case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>=", "**=", "&&=", "||=", "??=":
		return true
	}
	return false
}

// precedence returns that of a binary operator; 0 is none.
func precedence(text string) int {
	for i, level := range [...][]string{
		{"??", "||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!=", "===", "!=="}, {"<", ">", "<=", ">=", "instanceof", "in"},
		{"<<", ">>", ">>>"}, {"+", "-"}, {"*", "/", "%"}, {"**"},
	} {
		if slices.Contains(level, text) {
			return i + 1
		}
	}
	return 0
}

func (l *lexer) operator() {
	rest := l.rest()
	_, size := utf8.DecodeRuneInString(rest)
	text := rest[:size]
	for _, operator := range operators {
		if strings.HasPrefix(rest, operator) && !(operator == "?." && len(rest) > 2 && isDigit(rest[2])) {
			text = operator
			break
		}
	}
	switch text {
	case "(", "[", "{":
		l.openBracket(text)
	case ")", "]", "}":
		l.closeBracket(text)
	default:
		l.add(tokOperator, text)
		l.at += len(text)
	}
}

func (l *lexer) openBracket(text string) {
	b := bracket{at: len(l.tokens), value: l.value()}
	if len(l.tokens) > 0 {
		switch last := l.tokens[len(l.tokens)-1]; {
		case text == "(" && last.kind == tokName:
			b.control = last.text == "if" || last.text == "while" || last.text == "for" || last.text == "with"
		case text == "{" && (last.kind == tokName || last.is("=>") || last.is(";") || last.is("{") || last.is("}") || last.is(":") && l.newline):
			b.value = last.word("return") || last.word("case") || last.word("of") || last.word("in") || last.word("typeof") || last.word("default")
		case text == "{" && last.is(")"):
			b.value = false
		}
	} else {
		b.value = false
	}
	l.add(tokOperator, text)
	l.at++
	l.open = append(l.open, b)
}

// closeBracket pairs a bracket with the innermost open one of its kind, as far as
// that is not beyond a template.
func (l *lexer) closeBracket(text string) {
	top := len(l.open) - 1
	if top >= 0 && l.open[top].template && text == "}" {
		l.open = l.open[:top]
		part := len(l.tokens)
		l.template(1)
		l.tokens[part].pair = continues
		return
	}
	l.add(tokOperator, text)
	l.at++
	last := len(l.tokens) - 1
	for n := top; n >= 0 && n > top-maxSkewed && !l.open[n].template; n-- {
		b := l.open[n]
		if matching(l.tokens[b.at].text) == text {
			l.tokens[b.at].pair, l.tokens[last].pair = int32(last), int32(b.at)
			l.tokens[last].last = text == ")" && b.control || text == "}" && !b.value
			l.open = l.open[:n]
			return
		}
	}
}

// continues is the pair of a template's part that is not its first.
const continues = -1

// maxSkewed is the number of brackets that one may close at once: the others are not
// closed.
const maxSkewed = 4

func matching(open string) string {
	switch open {
	case "(":
		return ")"
	case "[":
		return "]"
	}
	return "}"
}

// unescape replaces the escapes of a string or a template.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, _, rest, err := strconv.UnquoteChar(text, 0)
		if err != nil { // it stands for itself, but for a line end
			size := 0
			r, size = utf8.DecodeRuneInString(text[1:])
			rest = text[1+size:]
		}
		if text = rest; err == nil || r != '\n' && r != utf8.RuneError {
			b.WriteRune(r)
		}
	}
	return b.String()
}
