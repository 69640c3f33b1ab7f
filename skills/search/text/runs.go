package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// longestWord is the length in bytes above which a word is a digest or a blob.
	longestWord = 64
	// longestRun bounds the bytes that are split at once.
	longestRun = 256
	// mostJoined is the number of words above which a run is a path, not a compound.
	mostJoined = 4
)

// A class is the role of a character in a run.
type class uint8

const (
	blank  class = iota
	letter       // or digit
	joiner       // joins letters on both sides of it
	dense        // of a script without spaces
)

// classOf returns the class of the character at the start of text, and its bytes.
func classOf(text string) (class, int) {
	if c := text[0]; c < utf8.RuneSelf {
		return asciiClass(c), 1
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError:
		return blank, size
	case isDense(r):
		return dense, size
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return letter, size
	case r == '’', r == '‑':
		return joiner, size
	}
	return blank, size
}

// asciiClass returns the class of a byte; it is blank above ASCII.
func asciiClass(c byte) class {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return letter
	case c == '-', c == '_', c == '.', c == '/', c == '\'', c == '&':
		return joiner
	}
	return blank
}

// isDense reports a character of a script that has no spaces between words, or whose
// words end in particles.
func isDense(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ｰ')
}

// nextRun returns the next run of text from the byte at on, and whether its script is
// dense; start is end where there is none.
func nextRun(text string, at int) (start, end int, isDense bool) {
	for start = at; start < len(text); {
		kind, size := classOf(text[start:])
		switch kind {
		case letter:
			return start, runEnd(text, start), false
		case dense:
			return start, denseEnd(text, start), true
		}
		start += size
	}
	return start, start, false
}

// runEnd returns the end of the run that begins at start with a letter.
func runEnd(text string, start int) int {
	end, limit := start, min(len(text), start+longestRun)
	for end < limit && asciiClass(text[end]) == letter {
		end++
	}
	for at := end; at < limit; {
		kind, size := classOf(text[at:])
		if kind == blank || kind == dense || kind == joiner && end != at {
			break
		}
		at += size
		if kind == letter {
			end = at
		}
	}
	return end + suffixLength(text, start, end)
}

// suffixLength returns the bytes after a run of one or two letters that belong to it, as in
// "C++" and "F#".
func suffixLength(text string, start, end int) int {
	rest := text[end:]
	if end-start > 2 || text[start] < 'A' {
		return 0
	}
	for _, suffix := range []string{"++", "#"} {
		if after, ok := strings.CutPrefix(rest, suffix); ok {
			if after == "" {
				return len(suffix)
			}
			if kind, _ := classOf(after); kind == blank || kind == joiner {
				return len(suffix)
			}
		}
	}
	return 0
}

func denseEnd(text string, start int) int {
	end := start
	for end < len(text) && end-start < longestRun {
		kind, size := classOf(text[end:])
		if r, _ := utf8.DecodeRuneInString(text[end:]); kind != dense && !unicode.IsMark(r) {
			break
		}
		end += size
	}
	return end
}
