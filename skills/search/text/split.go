package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A segment is the part of a run between two joiners.
type segment struct{ start, end int }

// segments appends the segments of a run. "user's" has one, and "l'eau" two.
func segments(all []segment, text string) []segment {
	start := 0
	for at := 0; at < len(text); {
		kind, size := classOf(text[at:])
		if kind == joiner {
			all = append(all, segment{start, at})
			start = at + size
		}
		at += size
	}
	if endsInApostrophe(text[:start]) && strings.EqualFold(text[start:], "s") {
		return all
	}
	return append(all, segment{start, len(text)})
}

func endsInApostrophe(text string) bool {
	return strings.HasSuffix(text, "'") || strings.HasSuffix(text, "’")
}

// join returns the segments of a compound as one word, or "", and whether they are no
// words of their own: "don't" and "1.2.3". The words of a path are no compound, nor are
// those of an elision and of a date.
func join(text string, segments []segment) (joined string, whole bool) {
	if len(segments) < 2 || len(segments) > mostJoined || len(text) > longestWord {
		return "", false
	}
	if strings.Trim(text, "0123456789.") == "" {
		return text, true
	}
	var b strings.Builder
	for i, s := range segments {
		if i > 0 {
			previous := segments[i-1]
			separator := text[previous.end:s.start]
			if separator == "/" && max(s.end-s.start, previous.end-previous.start) > 4 {
				return "", false
			}
			if endsInApostrophe(separator) {
				if s.end-s.start > 2 {
					return "", false
				}
				whole = len(segments) == 2
			}
		}
		b.WriteString(text[s.start:s.end])
	}
	if '0' <= text[0] && text[0] <= '9' {
		return "", false
	}
	return b.String(), whole
}

// parts returns the words within a word: those of camelCase, the name before a number,
// and the unit after one.
func parts(word string) []string {
	digits := len(word) - len(strings.TrimLeft(word, "0123456789"))
	switch unit := word[digits:]; {
	case digits > 0 && len(unit) > 1 && !strings.ContainsAny(unit, "0123456789"):
		return []string{unit}
	case digits > 0:
		return nil
	}
	name := strings.TrimRight(word, "0123456789")
	humps := humps(name)
	if len(humps) == 0 && len(name) < len(word) && len(name) > 2 {
		return []string{name}
	}
	return humps
}

// humps returns the words of a camelCase word, or nil: "iOS" and "URLs" are no such
// words.
func humps(word string) []string {
	var all []string
	start := 0
	for at := 0; at < len(word); {
		r, size := utf8.DecodeRuneInString(word[at:])
		if at > start && isHump(word[:at], r, word[at+size:]) {
			all = append(all, word[start:at])
			start = at
		}
		at += size
	}
	if start == 0 {
		return nil
	}
	all = append(all, word[start:])
	for _, hump := range all {
		if utf8.RuneCountInString(hump) < 2 {
			return nil
		}
	}
	return all
}

// isHump reports whether a word begins with r within another: a capital after a small
// letter, or the last of several capitals where two small letters follow.
func isHump(before string, r rune, after string) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	previous, _ := utf8.DecodeLastRuneInString(before)
	if unicode.IsLower(previous) || unicode.IsDigit(previous) {
		return true
	}
	first, size := utf8.DecodeRuneInString(after)
	second, _ := utf8.DecodeRuneInString(after[size:])
	return unicode.IsLower(first) && unicode.IsLower(second)
}
