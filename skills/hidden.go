package skills

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsHidden reports whether r is hidden after prev, the last character before it that is
// not, 0 for none. Joiners and variation selectors are not where a script or an
// emoji needs one; nor are tabs and line ends.
func IsHidden(prev, r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r < 0x7f:
		return r < ' '
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner:
		return !joins(prev)
	case unicode.Is(unicode.Variation_Selector, r) || r == mongolianVowelSeparator:
		return !varies(prev, r)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // signs of their own
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

const (
	zeroWidthNonJoiner      = 0x200c
	zeroWidthJoiner         = 0x200d
	mongolianVowelSeparator = 0x180e
	emojiPresentation       = 0xfe0f
)

// joined are the scripts whose letters take another shape beside a joiner.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar,
	unicode.Khmer, unicode.Kaithi, unicode.Newa, unicode.Tirhuta, unicode.Meetei_Mayek, unicode.Inherited,
}

func joins(prev rune) bool {
	switch {
	case prev == emojiPresentation || unicode.In(prev, unicode.So, unicode.Sk):
		return true
	}
	return unicode.In(prev, unicode.Letter, unicode.Mark) && unicode.In(prev, joined...) && !unicode.Is(unicode.Variation_Selector, prev)
}

// varies reports whether the selector has another form of prev to select.
func varies(prev, selector rune) bool {
	switch {
	case selector < 0x2000:
		return unicode.Is(unicode.Mongolian, prev) && unicode.IsLetter(prev)
	case selector == emojiPresentation || selector == emojiPresentation-1:
		return unicode.In(prev, unicode.So, unicode.Sm, unicode.Sk) || strings.ContainsRune("0123456789#*‼⁉〰〽ℹ", prev)
	case selector < emojiPresentation:
		return unicode.In(prev, unicode.Sm, unicode.Han)
	}
	return unicode.Is(unicode.Han, prev)
}

// FindHidden returns the index of the first hidden character of a text, and the
// character; -1 without one.
func FindHidden(text string) (int, rune) {
	prev := rune(0)
	for i, r := range text {
		if IsHidden(prev, r) {
			return i, r
		}
		prev = r
	}
	return -1, 0
}

// A HiddenPlace is the position of a hidden character in a text.
type HiddenPlace struct {
	Line, Col int // from 1; Col in characters
	Rune      rune
}

// HiddenPlaces returns where the hidden characters of a text are, the first of each
// line, up to most lines, and how many there are in all. A mark of the byte order
// at its beginning is none.
func HiddenPlaces(text string, most int) (first []HiddenPlace, count int) {
	text = strings.TrimPrefix(text, "\ufeff")
	line := 0
	for one := range strings.Lines(text) {
		line++
		seen := false
		prev := rune(0)
		for i, r := range one {
			if !IsHidden(prev, r) {
				prev = r
				continue
			}
			count++
			if !seen && len(first) < most {
				first = append(first, HiddenPlace{line, utf8.RuneCountInString(one[:i]) + 1, r})
			}
			seen = true
		}
	}
	return first, count
}
