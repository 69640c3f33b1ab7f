package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width returns the number of columns of a text in one line.
func Width(text string) (columns int) {
	for text != "" {
		first, n := character(text)
		columns, text = columns+n, text[len(first):]
	}
	return columns
}

// Cut returns a text in at most so many columns, with "…" in place of the rest. It splits
// no character that a person sees as one.
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	head, _ := split(text, columns-1)
	return strings.TrimRight(head, " ") + "…"
}

// CutMiddle is as [Cut], but the rest is in the middle: the end of a name tells more.
func CutMiddle(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	head, _ := split(text, columns/3)
	_, tail := split(text, Width(text)-(columns-1-Width(head)))
	return Cut(head+"…"+tail, columns)
}

// split splits a text after at most so many columns.
func split(text string, columns int) (head, rest string) {
	at := 0
	for at < len(text) {
		first, n := character(text[at:])
		if columns -= n; columns < 0 {
			break
		}
		at += len(first)
	}
	return text[:at], text[at:]
}

// Wrap breaks a text into lines of at most so many columns, at spaces and between wide
// characters. A longer word stays whole: it may be a path.
func Wrap(text string, columns int) (lines []string) {
	line, used := "", -1 // nothing is in it
	for word := range strings.SplitSeq(text, " ") {
		n := Width(word)
		if used >= 0 && used+1+n <= columns {
			line, used = line+" "+word, used+1+n
			continue
		}
		if used >= 0 {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		for n > columns && n > utf8.RuneCountInString(word) { // of a script without spaces
			head, rest := split(word, columns)
			if head == "" || rest == "" {
				break
			}
			lines, word, n = append(lines, head), rest, Width(rest)
		}
		line, used = word, n
	}
	return append(lines, line)
}

const (
	zeroWidthJoiner = '\u200d'
	emojiSelector   = '\ufe0f'
)

// character returns the first character of a text that a person sees as one, such as a
// letter with its accents or a joined emoji, and its columns. It is the part of Unicode's
// rules (UAX 29) that terminals share.
func character(text string) (first string, columns int) {
	r, end := utf8.DecodeRuneInString(text)
	columns = runeWidth(r)
	flag, joined := isFlagLetter(r), false
	for end < len(text) {
		next, n := utf8.DecodeRuneInString(text[end:])
		switch {
		case next < 0x300:
			return text[:end], columns
		case joined && columns == 2, columns == 2 && next >= 0x1f3fb && next <= 0x1f3ff: // a tone of skin
			joined = false
		case flag && isFlagLetter(next):
			flag, columns = false, 2
		case next == emojiSelector && columns > 0:
			columns = 2
		case runeWidth(next) == 0:
			joined = next == zeroWidthJoiner
		default:
			return text[:end], columns
		}
		end += n
	}
	return text, columns
}

func isFlagLetter(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// runeWidth returns the columns of a code point by itself.
func runeWidth(r rune) int {
	switch {
	case r >= ' ' && r < 0x7f:
		return 1
	case r < ' ', unicode.In(r, unicode.Cc, unicode.Mn, unicode.Me, unicode.Cf), r >= 0x1160 && r <= 0x11ff: // inner letters of Hangul
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
