package surface

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// isWord reports whether a byte is part of a word.
func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// maxValue bounds a value, and maxPassage a passage, in bytes.
const (
	maxValue   = 256
	maxPassage = 200
)

// shorten returns a value of at most maxValue bytes. A longer one ends with its digest,
// so that two differ.
func shorten(value string) string {
	if len(value) <= maxValue {
		return value
	}
	return truncate.String(value, maxValue-20) + " " + digest(value)[len("sha256:"):][:16]
}

// passage returns a text in one line of at most maxPassage bytes.
func passage(text string) string {
	const most = 4 * maxPassage // bytes that are looked at
	return truncate.String(strings.Join(strings.Fields(text[:min(len(text), most)]), " "), maxPassage)
}

// digest returns "sha256:" and 64 hexadecimal digits.
func digest(content string) string {
	h := newHash()
	_, _ = io.WriteString(h.Hash, content)
	return h.sum()
}

// A sum is a digest over several texts.
type sum struct{ hash.Hash }

func newHash() sum { return sum{sha256.New()} }

// add adds a text, delimited by its length.
func (s sum) add(text string) { fmt.Fprintf(s, "%d:%s", len(text), text) }

func (s sum) sum() string { return "sha256:" + hex.EncodeToString(s.Sum(nil)) }
