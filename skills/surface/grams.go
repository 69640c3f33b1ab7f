package surface

import (
	"iter"
	"math/bits"
	"strings"
)

// gramLength is the length of a gram in bytes. Shorter passages are always searched for.
const gramLength = 4

// A gramText is a text with a Bloom filter of its grams, which rules out most passages that
// the text does not have. A search for each of some 300 passages takes 60 ms for 1 MB, the
// filter 2 ms.
type gramText struct {
	text  string
	bits  []uint64
	shift int // from a hash of 32 bits to the number of a bit
}

// newGramText returns a text with its filter, which has about as many bytes as the text,
// at most 128 KiB.
func newGramText(text string) *gramText {
	width := min(max(bits.Len(uint(len(text)))+3, 10), 20)
	g := &gramText{text: text, bits: make([]uint64, 1<<(width-6)), shift: 32 - width}
	var gram uint32
	for i := range len(text) {
		gram = gram<<8 | uint32(text[i])
		if i >= gramLength-1 {
			n := g.bit(gram)
			g.bits[n>>6] |= 1 << (n & 63)
		}
	}
	return g
}

// bit returns the number of the bit of a gram, by Knuth's multiplicative hashing.
func (g *gramText) bit(gram uint32) uint32 { return gram * 2654435761 >> g.shift }

// may reports whether the text may have a passage. False is certain.
func (g *gramText) may(passage string) bool {
	var gram uint32
	for i := range len(passage) {
		gram = gram<<8 | uint32(passage[i])
		if i < gramLength-1 {
			continue
		}
		if n := g.bit(gram); g.bits[n>>6]&(1<<(n&63)) == 0 {
			return false
		}
	}
	return true
}

// find returns the offset of the first whole occurrence of a passage; -1 without one.
func (g *gramText) find(passage string) int {
	if !g.may(passage) {
		return -1
	}
	for at := range occurrences(g.text, passage) {
		end := at + len(passage)
		if (at == 0 || !isWord(passage[0]) || !isWord(g.text[at-1])) && (end == len(g.text) || !isWord(passage[len(passage)-1]) || !isWord(g.text[end])) {
			return at
		}
	}
	return -1
}

// occurrences yields the offsets of a passage in a text.
func occurrences(text, passage string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			at := strings.Index(text[from:], passage)
			if at < 0 || !yield(from+at) {
				return
			}
			from += at + 1
		}
	}
}
