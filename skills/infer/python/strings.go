package python

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quotesOf returns the quotes that s starts with: one, or three.
func quotesOf(s string) string {
	if len(s) >= 3 && s[1] == s[0] && s[2] == s[0] {
		return s[:3]
	}
	return s[:1]
}

// stringLength returns how long the literal is that starts with the quotes of
// s, or -1 where it is not closed. In a formatted one, a string between braces
// may have the same quotes, as from Python 3.12 on.
func stringLength(s string, formatted bool, depth int) int {
	quotes := quotesOf(s)
	for i := len(quotes); i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			i += 2
		case strings.HasPrefix(s[i:], quotes):
			return i + len(quotes)
		case c == '\n' && len(quotes) == 1:
			return -1
		case formatted && c == '{':
			n := fieldLength(s[i:], quotes, depth)
			if n < 0 {
				return -1
			}
			i += n
		default:
			i++
		}
	}
	return -1
}

// fieldLength returns how much of s, which starts with a brace, the replacement
// field takes; -1 where it is none that closes, which Python refuses.
func fieldLength(s, quotes string, depth int) int {
	if strings.HasPrefix(s, "{{") {
		return 2
	}
	open := 0
	for i := 1; i < len(s); {
		switch c := s[i]; {
		case c == '\n' && len(quotes) == 1:
			return -1
		case c == '\'' || c == '"':
			n := nestedLength(s, i, depth)
			if n < 0 {
				return -1
			}
			i += n
		case c == '(' || c == '[' || c == '{':
			open++
			i++
		case open > 0 && (c == ')' || c == ']' || c == '}'):
			open--
			i++
		case c == '}':
			return i + 1
		case c == ':' && open == 0:
			return specLength(s, i, quotes)
		case strings.HasPrefix(s[i:], quotes):
			return -1
		default:
			i++
		}
	}
	return -1
}

func nestedLength(s string, at, depth int) int {
	if depth == 3 {
		return -1
	}
	return stringLength(s[at:], s[at-1]|0x20 == 'f', depth+1)
}

// specLength passes a format specification, in which quotes are text.
func specLength(s string, at int, quotes string) int {
	open := 0
	for i := at; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quotes), s[i] == '\n' && len(quotes) == 1:
			return -1
		case s[i] == '{':
			open++
		case s[i] == '}' && open == 0:
			return i + 1
		case s[i] == '}':
			open--
		}
	}
	return -1
}

// A literal is a string token taken apart.
type literal struct {
	body                  string // between the quotes
	raw, bytes, formatted bool
}

func splitLiteral(text string) literal {
	at := strings.IndexAny(text, `"'`)
	prefix := strings.ToLower(text[:at])
	quotes := len(quotesOf(text[at:]))
	return literal{
		body:      text[at+quotes : len(text)-quotes],
		raw:       strings.Contains(prefix, "r"),
		bytes:     strings.Contains(prefix, "b"),
		formatted: strings.ContainsAny(prefix, "ft"),
	}
}

// unescape returns the text of a literal's body. It reports false where that is
// not a string of Unicode text, or names a character.
func unescape(body string, raw bool) (string, bool) {
	if raw || !strings.Contains(body, `\`) {
		return body, true
	}
	var b strings.Builder
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 == len(body) {
			b.WriteByte(body[i])
			i++
			continue
		}
		text, n, ok := escape(body[i+1:])
		if !ok {
			return "", false
		}
		b.WriteString(text)
		i += 1 + n
	}
	return b.String(), true
}

// simple are the escapes of one character.
const simple = "\n\\'\"abfnrtv"

var simpleTexts = [...]string{"", `\`, "'", `"`, "\a", "\b", "\f", "\n", "\r", "\t", "\v"}

// escape returns the text of the escape sequence after a backslash, and its
// length. An unknown one stands for itself.
func escape(s string) (string, int, bool) {
	if i := strings.IndexByte(simple, s[0]); i >= 0 {
		return simpleTexts[i], 1, true
	}
	switch c := s[0]; {
	case '0' <= c && c <= '7':
		n := 1
		for n < 3 && n < len(s) && '0' <= s[n] && s[n] <= '7' {
			n++
		}
		return codePoint(s[:n], 8, n)
	case c == 'x':
		return hexEscape(s, 2)
	case c == 'u':
		return hexEscape(s, 4)
	case c == 'U':
		return hexEscape(s, 8)
	case c == 'N':
		return "", 0, false
	}
	return `\`, 0, true
}

func hexEscape(s string, digits int) (string, int, bool) {
	if len(s) < 1+digits {
		return "", 0, false
	}
	return codePoint(s[1:1+digits], 16, 1+digits)
}

func codePoint(digits string, base, n int) (string, int, bool) {
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || !utf8.ValidRune(rune(code)) {
		return "", 0, false
	}
	return string(rune(code)), n, true
}
