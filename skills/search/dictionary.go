package search

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// A dictionary has distinct terms in order.
type dictionary []string

// prefixed yields the terms that begin with prefix.
func (d dictionary) prefixed(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		first, _ := slices.BinarySearch(d, prefix)
		for _, term := range d[first:] {
			if !strings.HasPrefix(term, prefix) || !yield(term) {
				return
			}
		}
	}
}

// similar yields the terms that begin with the same character as word and are one typo
// away from it: a character more, less or another, or two that changed places. To search
// all terms took a third of the time of a query.
func (d dictionary) similar(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		_, first := utf8.DecodeRuneInString(word)
		for term := range d.prefixed(word[:first]) {
			if oneTypo(word, term) && !yield(term) {
				return
			}
		}
	}
}

// oneTypo reports whether a and b differ by one character, or by two that changed places.
func oneTypo(a, b string) bool {
	if d := len(a) - len(b); d > utf8.UTFMax || d < -utf8.UTFMax {
		return false
	}
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x) <= 1 && len(y) <= 1 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}
