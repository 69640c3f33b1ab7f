package audit

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox/redact"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Redacted stands for a secret.
const Redacted = "[redacted]"

const (
	// minPart is the length of the shortest secret that is found inside of a text. A
	// shorter one is redacted where it is a whole value.
	minPart = 4
	// minCoded is the length of the shortest secret whose encodings are found.
	minCoded = 5
)

// A Redactor replaces secrets in texts and values, in the spellings of package
// [github.com/skillsmcp/skills-mcp/sandbox/redact]. A text that has one percent-encoded, and a
// value that has one split over several strings, are replaced as a whole. The zero Redactor
// replaces nothing.
type Redactor struct {
	whole map[string]bool // texts that are secrets
	parts []string        // forms of secrets that are found inside of a text, the longest first
}

// NewRedactor returns a redactor of secrets. Empty ones are none.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{whole: map[string]bool{}}
	for _, secret := range secrets {
		if secret == "" || r.whole[secret] {
			continue
		}
		r.whole[secret] = true
		if len(secret) >= minPart {
			r.parts = append(r.parts, secret)
		}
		if len(secret) >= minCoded {
			r.parts = append(append(r.parts, redact.Spellings(secret)...), strings.ReplaceAll(secret, " ", "+"))
		}
	}
	slices.SortFunc(r.parts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.parts = slices.Compact(r.parts)
	return r
}

// holds reports whether a text has a secret in it.
func (r *Redactor) holds(text string) bool {
	return slices.ContainsFunc(r.parts, func(part string) bool { return strings.Contains(text, part) })
}

// encoded matches a byte that is percent-encoded.
var encoded = lazyregexp.New(`%[0-9A-Fa-f]{2}`)

// unescape decodes the percent signs of a text.
func unescape(text string) string {
	return encoded.ReplaceAllStringFunc(text, func(code string) string {
		b, _ := hex.DecodeString(code[1:]) // which the pattern has checked
		return string(b)
	})
}

// Text returns a text without secrets.
func (r *Redactor) Text(text string) string {
	if r.whole[text] {
		return Redacted
	}
	for _, part := range r.parts {
		text = strings.ReplaceAll(text, part, Redacted)
	}
	once := unescape(text) // an encoded address in a query is encoded twice
	if once != text && (r.holds(once) || r.holds(unescape(once))) {
		return Redacted
	}
	return text
}

// Value returns a value of encoding/json without secrets. The strings, numbers and keys in
// it count as one text, too, in the order in which they are encoded.
func (r *Redactor) Value(value any) any {
	if len(r.whole) == 0 {
		return value
	}
	var all strings.Builder
	clean := walk(value, func(text string) string {
		text = r.Text(text)
		all.WriteString(text)
		return text
	})
	if r.holds(all.String()) {
		return Redacted
	}
	return clean
}

// walk returns a copy of a value, with each string, number and key in it replaced by the
// result of a function, which gets them in the order in which they are encoded.
func walk(value any, text func(string) string) any {
	switch v := value.(type) {
	case nil, bool:
		return v
	case string:
		return text(v)
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = walk(item, text)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all[text(key)] = walk(v[key], text)
		}
		return all
	}
	plain := fmt.Sprint(value)
	if number, ok := value.(float64); ok {
		plain = strconv.FormatFloat(number, 'f', -1, 64)
	}
	if changed := text(plain); changed != plain {
		return changed
	}
	return value
}
