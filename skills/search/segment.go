package search

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A segment is an inverted index of some skills. It is not changed once it is built.
type segment struct {
	docs  []doc
	terms dictionary
	// postings has the list of each term, one after the other: see posting.
	postings []byte
	starts   []uint32 // of the lists; one more at the end
	holders  []uint32 // of each term: the documents that have it
}

// A doc is a skill in a segment.
type doc struct {
	skill   *skills.Skill
	names   []string           // squashed: see namesOf
	lengths [fieldCount]uint16 // in words
}

// A posting is the number of times that a document has a term in each field.
type posting struct {
	doc    uint32
	fields uint8 // bits of the fields that have it
	counts [fieldCount]uint8
}

const bodyOnly = 1 << bodyField

// appendTo appends the posting, which follows that of the document before: the
// difference, and a byte for a term that is in the body only, as most are.
func (p *posting) appendTo(b []byte, before uint32) []byte {
	b = binary.AppendUvarint(b, uint64(p.doc-before))
	if p.fields == bodyOnly && p.counts[bodyField] < 1<<7 {
		return append(b, p.counts[bodyField])
	}
	b = append(b, 1<<7|p.fields)
	for f, n := range p.counts {
		if p.fields&(1<<f) != 0 {
			b = append(b, n)
		}
	}
	return b
}

// read reads the posting that follows that of the document p, and returns the rest.
func (p *posting) read(b []byte) []byte {
	if b[0] < 1<<7 {
		p.doc += uint32(b[0])
		b = b[1:]
	} else {
		d, n := binary.Uvarint(b)
		p.doc += uint32(d)
		b = b[n:]
	}
	if b[0] < 1<<7 {
		p.fields = bodyOnly
		p.counts[bodyField] = b[0]
		return b[1:]
	}
	p.fields = b[0] &^ (1 << 7)
	b = b[1:]
	n := 0
	for rest := p.fields; rest != 0; rest &= rest - 1 {
		p.counts[bits.TrailingZeros8(rest)] = b[n]
		n++
	}
	return b[n:]
}

// list returns the postings of the term at an index.
func (s *segment) list(at int) []byte { return s.postings[s.starts[at]:s.starts[at+1]] }

// totals are sums over documents.
type totals struct {
	docs  int
	words [fieldCount]int // of each field
	with  [fieldCount]int // documents that have the field
}

func (t *totals) add(d *doc) {
	t.docs++
	for f, n := range d.lengths {
		if n > 0 {
			t.words[f] += int(n)
			t.with[f]++
		}
	}
}

// merge returns a segment of the documents of several in their order, without those of
// the skills that are gone.
func merge(from []*segment, gone map[*skills.Skill]bool) *segment {
	to := &segment{}
	moved := make([][]uint32, len(from)) // new number of each document, plus one
	for i, s := range from {
		moved[i] = make([]uint32, len(s.docs))
		for n, d := range s.docs {
			if !gone[d.skill] {
				to.docs = append(to.docs, d)
				moved[i][n] = uint32(len(to.docs))
			}
		}
	}
	mergeTerms(to, from, moved)
	return to
}

// mergeTerms fills in the terms of the segments and their postings.
func mergeTerms(to *segment, from []*segment, moved [][]uint32) {
	at := make([]int, len(from))
	for {
		term, any := "", false
		for i, s := range from {
			if at[i] < len(s.terms) {
				if next := s.terms[at[i]]; !any || next < term {
					term, any = next, true
				}
			}
		}
		if !any {
			break
		}
		start, before, holders := len(to.postings), uint32(0), uint32(0)
		for i, s := range from {
			if at[i] == len(s.terms) || s.terms[at[i]] != term {
				continue
			}
			var p posting
			for list := s.list(at[i]); len(list) > 0; {
				list = p.read(list)
				if n := moved[i][p.doc]; n > 0 {
					q := p
					q.doc = n - 1
					to.postings = q.appendTo(to.postings, before)
					before = q.doc
					holders++
				}
			}
			at[i]++
		}
		if holders > 0 {
			to.terms = append(to.terms, term)
			to.starts = append(to.starts, uint32(start))
			to.holders = append(to.holders, holders)
		}
	}
	to.starts = append(to.starts, uint32(len(to.postings)))
	to.terms = slices.Clip(to.terms)
	to.postings = slices.Clip(to.postings)
}

// A bitset is a set of small numbers. Nil is empty.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(n int) bool { return n/64 < len(b) && b[n/64]&(1<<(n%64)) != 0 }
func (b bitset) add(n int)      { b[n/64] |= 1 << (n % 64) }
