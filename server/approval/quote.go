package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// encode returns the JSON of a value, in one line.
func encode(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return quote(fmt.Sprint(value))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// noCode matches a backslash, as JSON has it, that begins no code even when it stands alone.
var noCode = lazyregexp.New(`\\\\([^\\"/abfnrtuUvx0-9])`)

// quote returns a stranger's text as JSON, with characters that are not seen as codes, and
// patterns such as \S+ as they are.
func quote(text string) string { return noCode.ReplaceAllString(termtext.Visible(encode(text)), `\$1`) }

// shorten returns the first and the last characters of a text, in at most most bytes; the
// text itself if that is shorter. Its tail begins with no part of a code, which could look
// like the end of a quotation.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const between = " … "
	half := max(1, (most-len(between))/2)
	head, tail := text[:half], text[len(text)-half:]
	for !utf8.ValidString(head) && len(head) > half-utf8.UTFMax {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	for len(tail) > 1 && strings.ContainsRune(`"\`, rune(tail[0])) {
		tail = tail[1:]
	}
	return head + between + tail
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// digest returns the sha256 of texts, each with its length, in hex.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // a hash never fails
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}
