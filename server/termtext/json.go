package termtext

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
)

// JSON returns an encoded message with sanitized texts, without escaped letters, and message
// itself if nothing changes. Names of members stay distinct: a character that is removed from
// a text becomes U+FFFD in a name. verbatim reports whether the text at a path is not
// sanitized; a path has the names of members, and "" for an item of a list.
func JSON(message []byte, verbatim func(path []string) bool) []byte {
	if !suspicious(message) {
		return message
	}
	f := rewriter{rest: message, verbatim: verbatim}
	for len(f.rest) > 0 {
		f.step()
	}
	return f.out
}

// suspicious reports whether a message may need sanitizing: it has the first byte of the
// encoding of such a character.
func suspicious(message []byte) bool {
	if bytes.Contains(message, []byte(`\u`)) || bytes.Contains(message, []byte(`\b`)) || bytes.Contains(message, []byte(`\f`)) {
		return true
	}
	return slices.ContainsFunc(message, func(b byte) bool { return b >= utf8.RuneSelf || b == 0x7f })
}

// A rewriter copies the tokens of a message.
type rewriter struct {
	rest, out []byte
	path      []string
	verbatim  func(path []string) bool
}

func (f *rewriter) step() {
	n := 1
	switch f.rest[0] {
	case '{', '[':
		f.path = append(f.path, "")
	case '}', ']':
		f.path = f.path[:max(0, len(f.path)-1)]
	case '"':
		n = literal(f.rest)
		f.text(f.rest[:n], n < len(f.rest) && f.rest[n] == ':')
		f.rest = f.rest[n:]
		return
	}
	f.out, f.rest = append(f.out, f.rest[:n]...), f.rest[n:]
}

// literal returns the length of the string that text begins with.
func literal(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func (f *rewriter) text(quoted []byte, name bool) {
	given := string(quoted[1 : len(quoted)-1])
	if suspicious(quoted) && json.Unmarshal(quoted, &given) != nil { // of an encoder's, so it is one
		f.out = append(f.out, quoted...)
		return
	}
	become, escaped := given, bytes.Contains(quoted, []byte(`\u00`)) // a letter that is escaped could hide words
	switch {
	case name:
		if suspicious(quoted) {
			become = plainName(given)
		}
		if len(f.path) > 0 {
			f.path[len(f.path)-1] = given
		}
	case !suspicious(quoted):
	case f.verbatim != nil && f.verbatim(f.path):
		escaped = false
	default:
		become = Text(given)
	}
	if become == given && !escaped {
		f.out = append(f.out, quoted...)
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(become) // a string: it cannot fail
	f.out = append(f.out, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func plainName(name string) string {
	var b strings.Builder
	prev := rune(0)
	for _, r := range name {
		if skills.IsHidden(prev, r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}
