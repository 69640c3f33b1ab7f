package audit

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
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

// A Redactor replaces secrets in texts and values: as they are, percent-encoded, in
// base64 at each alignment, in hexadecimal, escaped as JSON, and split over several
// strings of one value. The zero Redactor replaces nothing.
type Redactor struct {
	whole map[string]bool // texts that are secrets
	parts []string        // forms of secrets that are found inside of a text
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
			r.parts = append(r.parts, encodings(secret)...)
		}
	}
	slices.Sort(r.parts)
	r.parts = slices.Compact(r.parts)
	return r
}

// encodings returns the forms of a secret that decoding a text's percent signs does not
// find.
func encodings(secret string) []string {
	forms := []string{hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	if spaced := strings.ReplaceAll(secret, " ", "+"); spaced != secret {
		forms = append(forms, spaced)
	}
	if escaped, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(escaped[1:len(escaped)-1]))
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			forms = append(forms, inside(alphabet, secret, before))
		}
	}
	return forms
}

// inside returns the characters that encode a secret behind so many bytes, whatever those
// and the bytes after it are.
func inside(alphabet *base64.Encoding, secret string, before int) string {
	coded := alphabet.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
	first := []int{0, 2, 3}[before] // the first character without a bit of the bytes before
	last := (before + len(secret)) * 8 / 6
	return coded[first:last]
}

// A span is a part of a text: bytes from start up to end.
type span struct{ start, end int }

// spans returns the parts of a text that are secrets, sorted, without overlaps.
func (r *Redactor) spans(text string) []span {
	found := r.find(text)
	if decoded, at := unescape(text); at != nil {
		for _, s := range r.find(decoded) {
			found = append(found, span{at[s.start], at[s.end]})
		}
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	var merged []span
	for _, s := range found {
		if n := len(merged); n > 0 && s.start <= merged[n-1].end {
			merged[n-1].end = max(merged[n-1].end, s.end)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// find returns where the secrets are in a text, as they are in parts.
func (r *Redactor) find(text string) (found []span) {
	for _, part := range r.parts {
		for from := 0; ; {
			i := strings.Index(text[from:], part)
			if i < 0 {
				break
			}
			found = append(found, span{from + i, from + i + len(part)})
			from += i + 1
		}
	}
	return found
}

// unescape decodes the percent signs of a text, once and again, and returns where each
// byte of the result, and its end, are in the text; nil if there are none.
func unescape(text string) (decoded string, at []int) {
	for range 2 { // an encoded address in a query is encoded twice
		next, where := unescapeOnce(text)
		if where == nil {
			break
		}
		if at != nil {
			for i, j := range where {
				where[i] = at[j]
			}
		}
		text, at = next, where
	}
	return text, at
}

func unescapeOnce(text string) (string, []int) {
	if !strings.Contains(text, "%") {
		return "", nil
	}
	decoded, at := make([]byte, 0, len(text)), make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		at = append(at, i)
		if i+2 < len(text) && text[i] == '%' {
			if b, err := url.PathUnescape(text[i : i+3]); err == nil {
				decoded = append(decoded, b...)
				i += 3
				continue
			}
		}
		decoded = append(decoded, text[i])
		i++
	}
	return string(decoded), append(at, len(text))
}

// Text returns a text without secrets.
func (r *Redactor) Text(text string) string {
	if r.whole[text] {
		return Redacted
	}
	return replace(text, 0, r.spans(text))
}

// replace returns a text, which begins at an offset, with each span in it replaced.
func replace(text string, offset int, spans []span) string {
	var b strings.Builder
	done := 0
	for _, s := range spans {
		start, end := max(s.start-offset, 0), min(s.end-offset, len(text))
		if start >= end {
			continue
		}
		b.WriteString(text[done:start])
		b.WriteString(Redacted)
		done = end
	}
	return b.String() + text[done:]
}

// Value returns a value of encoding/json without secrets. The strings, numbers and keys
// in it count as one text, in the order in which they are encoded: a secret that was
// split over several of them is found.
func (r *Redactor) Value(value any) any {
	if len(r.whole) == 0 {
		return value
	}
	var all strings.Builder
	walk(value, func(text string) string {
		all.WriteString(text)
		return text
	})
	spans, offset := r.spans(all.String()), 0
	return walk(value, func(text string) string {
		defer func() { offset += len(text) }()
		if r.whole[text] {
			return Redacted
		}
		return replace(text, offset, spans)
	})
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
