package search

import (
	"iter"
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
func (d dictionary) prefixed(prefix string) iter.Seq[string] {
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
