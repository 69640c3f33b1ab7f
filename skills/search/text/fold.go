package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns a text in lower case, without diacritics, in standard width.
func Fold(text string) string { return fold(strings.ToLower(text)) }

// fold folds a text in lower case. The marks of scripts that cannot be read without
// them remain.
func fold(lower string) string {
	if isASCII(lower) {
		return lower
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(lower) {
		switch {
		case 0x0300 <= r && r <= 0x036F: // a combining diacritic
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		default:
			b.WriteString(plain(r))
		}
	}
	return norm.NFC.String(b.String())
}

// plain returns the ASCII letters of a Latin one that does not decompose, else the
// character.
func plain(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'đ', 'ð':
		return "d"
	case 'ł':
		return "l"
	case 'ı':
		return "i"
	case 'þ':
		return "th"
	}
	return string(r)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower returns a text in lower case, with its diacritics.
func lower(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return strings.ToLower(norm.NFC.String(text))
}
