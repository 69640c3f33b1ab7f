package search

import (
	"strings"
	"unicode/utf8"
)

// A dictionary has distinct terms in order, without a header for each.
type dictionary struct {
	text string
	ends []uint32
}

func newDictionary(sorted []string) dictionary {
	d := dictionary{ends: make([]uint32, len(sorted))}
	var b strings.Builder
	for i, term := range sorted {
		b.WriteString(term)
		d.ends[i] = uint32(b.Len())
	}
	d.text = b.String()
	return d
}

func (d dictionary) len() int { return len(d.ends) }

func (d dictionary) at(i int) string {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.text[start:d.ends[i]]
}

// find returns the index of term, or of the first term after it.
func (d dictionary) find(term string) (at int, found bool) {
	low, high := 0, d.len()
	for low < high {
		if mid := int(uint(low+high) >> 1); d.at(mid) < term {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < d.len() && d.at(low) == term
}

// prefixed yields the terms that begin with prefix.
func (d dictionary) prefixed(prefix string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i, _ := d.find(prefix); i < d.len() && strings.HasPrefix(d.at(i), prefix); i++ {
			if !yield(d.at(i)) {
				return
			}
		}
	}
}

// similar yields the terms that begin with the same character as word and are one typo
// away from it: a character more, less or another, or two that changed places. To search
// all terms took a third of the time of a query.
func (d dictionary) similar(word string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		_, first := utf8.DecodeRuneInString(word)
		for term := range d.prefixed(word[:first]) {
			if oneTypo(word, term) && !yield(term) {
				return
			}
		}
	}
}

// oneTypo reports whether one typo makes a of b.
func oneTypo(a, b string) bool {
	x, y := a, b
	for x != "" && y != "" && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for x != "" && y != "" && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	const most = 2 * utf8.UTFMax // bytes of two characters
	switch {
	case len(x) <= 1 && len(y) <= 1:
		return true
	case len(x) > most || len(y) > most:
		return false
	case isASCII(x) && isASCII(y):
		return len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
	}
	return oneCharacter([]rune(a), []rune(b)) // x and y may begin within a character
}

// oneCharacter reports whether a and b differ by one character, or by two that changed
// places.
func oneCharacter(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
