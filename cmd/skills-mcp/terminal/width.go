package terminal

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Width returns the number of columns of a text in one line.
func Width(text string) int { return uniseg.StringWidth(text) }

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
	state := -1
	for rest = text; rest != ""; {
		_, after, n, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if columns -= n; columns < 0 {
			break
		}
		rest, state = after, next
	}
	return text[:len(text)-len(rest)], rest
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
