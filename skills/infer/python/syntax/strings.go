package syntax

import (
	"strconv"
	"strings"
)

func constant(line int, v any) *Node { return &Node{Kind: Const, Line: line, Value: v} }

// Literal returns the constant of a string that is not formatted.
func Literal(tok *Token) *Node {
	at := strings.IndexAny(tok.Text, `"'`)
	prefix, body := strings.ToLower(tok.Text[:at]), tok.Text[at:]
	if strings.Contains(prefix, "b") {
		return constant(tok.Line, nil)
	}
	quotes := 1
	if len(body) >= 6 && body[1] == body[0] && body[2] == body[0] {
		quotes = 3
	}
	return constant(tok.Line, unescape(body[quotes:len(body)-quotes], strings.Contains(prefix, "r")))
}

// number returns the value of a literal, nil where it has none of int64 or
// float64.
func number(text string) any {
	octal := len(text) > 1 && text[0] == '0' && isDigit(text[1]) // 0755 is no number in Python 3
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && (!octal || n == 0) {
		return n
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64); err == nil && strings.ContainsAny(text, ".eE") && !strings.ContainsAny(text, "xXpP") {
		return f
	}
	return nil
}

// unescape returns the text of a literal's body; nil where that is no Unicode
// text, or names a character.
func unescape(body string, raw bool) any {
	at := strings.IndexByte(body, '\\')
	if raw || at < 0 {
		return body
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(body, '\\') {
		text, rest, ok := escape(body[at:])
		if !ok {
			return nil
		}
		b.WriteString(body[:at] + text)
		body = rest
	}
	return b.String() + body
}

// escape returns the text of the escape sequence at the start of s, and the rest of s.
// An unknown one stands for itself.
func escape(s string) (text, rest string, ok bool) {
	if len(s) == 1 {
		return s, "", true
	}
	switch c := s[1]; c {
	case '\n':
		return "", s[2:], true
	case '\'', '"':
		return s[1:2], s[2:], true
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := 2
		for n < min(4, len(s)) && '0' <= s[n] && s[n] <= '7' {
			n++
		}
		code, _ := strconv.ParseUint(s[1:n], 8, 16)
		return string(rune(code)), s[n:], true
	case '\\', 'a', 'b', 'f', 'n', 'r', 't', 'v', 'x', 'u', 'U':
		code, _, rest, err := strconv.UnquoteChar(s, 0)
		return string(code), rest, err == nil
	}
	return s[:1], s[1:], s[1] != 'N'
}
