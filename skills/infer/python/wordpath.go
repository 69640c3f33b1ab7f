package python

import (
	"maps"
	"math"
	"slices"
)

// A word is the script's argument at a place, from 1.
type word int

const unlimited = math.MaxInt32

// A wordPath is a set of ways through a script up to a statement: the numbers of
// arguments that lead there, and the texts that they can be.
type wordPath struct {
	least, most int
	texts       map[word][]string // a missing word can be any text
	ended       bool
}

func (p *wordPath) clone() *wordPath {
	c := *p
	c.texts = maps.Clone(p.texts)
	return &c
}

// limit keeps the ways with a number of arguments between two.
func (p *wordPath) limit(least, most int) {
	p.least, p.most = max(p.least, least), min(p.most, most)
	p.ended = p.ended || p.least > p.most
}

// restrict keeps the ways on which a word is one of some texts.
func (p *wordPath) restrict(w word, texts []string) {
	if known, ok := p.texts[w]; ok {
		texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !slices.Contains(known, text) })
	}
	p.texts[w] = texts
	p.ended = p.ended || len(texts) == 0
}

// exclude drops the ways on which a word is one of some texts.
func (p *wordPath) exclude(w word, texts []string) {
	if known, ok := p.texts[w]; ok {
		p.texts[w] = slices.DeleteFunc(slices.Clone(known), func(text string) bool { return slices.Contains(texts, text) })
		p.ended = p.ended || len(p.texts[w]) == 0
	}
}

// join returns the ways of both paths, either of which may be nil.
func (p *wordPath) join(other *wordPath) *wordPath {
	switch {
	case p == nil || p.ended && other != nil:
		return other
	case other == nil || other.ended:
		return p
	}
	c := &wordPath{least: min(p.least, other.least), most: max(p.most, other.most), texts: map[word][]string{}}
	for _, pair := range [][2]*wordPath{{p, other}, {other, p}} {
		for w, texts := range pair[0].texts {
			more, ok := pair[1].texts[w]
			if absent := pair[1].most < int(w); ok || absent {
				all := append(slices.Clone(texts), more...)
				slices.Sort(all)
				c.texts[w] = slices.Compact(all)
			}
		}
	}
	return c
}
