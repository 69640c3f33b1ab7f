// Package truncate shortens texts for those who read them.
//
// Start with [String].
package truncate

import (
	"strings"
	"unicode/utf8"
)

const mark = "…"

// String cuts a text to at most limit bytes, between characters. Where it cuts,
// the text ends with "…", without space before it. limit must be at least the
// three bytes of the mark.
func String(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimSpace(text[:end]) + mark
}
