package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// A scope is the documents that a search may find. Documents outside of it count
// nowhere in what the search computes.
type scope struct {
	*segment
	hidden bitset // the documents outside of the scope; nil without any
	live   totals // of the others
}

// scope returns the documents that a query may find.
func (s *snapshot) scope(q Query) *scope {
	sc := &scope{segment: s.segment}
	for n := range s.docs {
		d := &s.docs[n]
		if (q.Person || d.skill.ModelInvocable) && (q.Keep == nil || q.Keep(d.skill)) {
			sc.live.add(d)
			continue
		}
		if sc.hidden == nil {
			sc.hidden = newBitset(len(s.docs))
		}
		sc.hidden.add(n)
	}
	return sc
}

// skill returns the skill of a document.
func (s *scope) skill(n int) *skills.Skill { return s.docs[n].skill }

// holders returns the number of documents that have a term.
func (s *scope) holders(term string) (n int) {
	at, ok := slices.BinarySearch(s.terms, term)
	switch {
	case ok && s.hidden == nil:
		return int(s.segment.holders[at])
	case ok:
		s.each(at, func(*posting) { n++ })
	}
	return n
}

// each calls f with the postings of the term at an index.
func (s *scope) each(at int, f func(*posting)) {
	var q posting
	for list := s.list(at); len(list) > 0; {
		list = q.read(list)
		if !s.hidden.has(int(q.doc)) {
			f(&q)
		}
	}
}

// idf returns the weight of a term that n documents have.
func (s *scope) idf(n int) float64 {
	return math.Log(1 + (float64(s.live.docs)-float64(n)+0.5)/(float64(n)+0.5))
}

// The parameters of the ranking, which measurements chose: BM25F over the short fields as
// one, and BM25 over the body, summed. As a field among others the body drowns them: it
// repeats each word of its subject, and has most others.
const (
	bodyWeight = 0.45 // of the body, where the short fields together have 1
	// chiefWeight is the weight of the name and the description, where the other short
	// fields have 1.
	chiefWeight = 1.5
	// shortLength and bodyLength are the shares of a field's length in the weight of a word
	// in it: b.
	shortLength, bodyLength = 0.9, 0.85
	// shortHalf and bodyHalf are the numbers of times at which a word counts half: k1.
	shortHalf, bodyHalf = 3, 2
	// coverage is the share of the score that shrinks with the words that a document
	// has not.
	coverage = 0.4
	// nameWeight is the score of a name that has all words of the query. It falls with the
	// cube of their share: one word of many says little.
	nameWeight = 0.8
)

// A clause is one word of a query.
type clause struct {
	word *text.Word
	// weight is 1 for a word that says something about the subject.
	weight   float64
	variants []variant
}

// A variant is a term that counts as the word of a clause.
type variant struct {
	term   string
	weight float64 // 1 for the word itself
}

// scores holds the scores of the documents for one phrasing.
type scores struct {
	of    []float64
	cover []float64
	short []float64 // like cover, of words in the short texts
	name  []float64 // and of those in the name
	// ideal is the weight of all words, and rare that of those which no document has in
	// the short texts.
	ideal, rare float64

	clause  []float64 // of the current clause
	inShort bitset    // of the current clause
	inName  bitset
	touched []int // its documents
}

// rank scores the documents.
func (s *scope) rank(all []clause) *scores {
	size := len(s.docs)
	r := &scores{
		of: make([]float64, size), cover: make([]float64, size), short: make([]float64, size), name: make([]float64, size),
		clause: make([]float64, size), inShort: newBitset(size), inName: newBitset(size),
	}
	shares := s.shares()
	for _, c := range all {
		weight := s.score(&c, &shares, r)
		r.finish(weight)
	}
	return r
}

// score adds the scores of a clause, and returns its weight: that of its best variant.
func (s *scope) score(c *clause, shares *[fieldCount]share, r *scores) (best float64) {
	own := 0.0
	for i, v := range c.variants {
		n := s.holders(v.term)
		if n == 0 {
			continue
		}
		idf := s.idf(n)
		if i == 0 {
			own = idf
		} else if own > 0 {
			idf = min(idf, own) // a rarer word that stands for the query's says no more
		}
		weight := c.weight * v.weight * idf
		best = max(best, weight)
		s.contribute(v.term, weight, shares, r)
	}
	if best == 0 {
		return c.weight * s.idf(0)
	}
	return best
}

// finish adds the scores of the current clause, which has a weight.
func (r *scores) finish(weight float64) {
	rare := true
	for _, n := range r.touched {
		if r.clause[n] > 0 {
			r.cover[n] += weight
			if r.inShort.has(n) {
				r.short[n] += weight
				rare = false
			}
			if r.inName.has(n) {
				r.name[n] += weight
			}
		}
		r.of[n] += r.clause[n]
		r.clause[n] = 0
	}
	for _, n := range r.touched {
		r.inShort[n/64], r.inName[n/64] = 0, 0
	}
	r.touched = r.touched[:0]
	r.ideal += weight
	if rare {
		r.rare += weight
	}
}

// confidence says how well a phrasing is answered, between -1 and 2: the share of its
// words that the best document has in its short texts, and the share that it has
// anywhere, less the share that no document has in its short texts.
func (r *scores) confidence() float64 {
	best := 0
	for n, score := range r.of {
		if score > r.of[best] {
			best = n
		}
	}
	if len(r.of) == 0 || r.of[best] <= 0 {
		return -1
	}
	return (r.short[best] + r.cover[best] - r.rare) / r.ideal
}

// named returns the score of the words of the query that a document has in its name.
func (r *scores) named(n int) float64 {
	share := r.name[n] / r.ideal
	return nameWeight * share * share * share
}

// A share has the constant and the factor of a field's length in the length that counts.
type share struct{ constant, factor float64 }

func (s *scope) shares() (all [fieldCount]share) {
	for f := range all {
		average := float64(max(1, s.live.words[f])) / float64(max(1, s.live.with[f]))
		length := shortLength
		if field(f) == bodyField {
			length = bodyLength
		}
		all[f] = share{1 - length, length / average}
	}
	return all
}

// contribute adds the scores of a term to the current clause. The best variant counts.
func (s *scope) contribute(term string, weight float64, shares *[fieldCount]share, r *scores) {
	at, ok := slices.BinarySearch(s.terms, term)
	if !ok {
		return
	}
	s.each(at, func(q *posting) {
		lengths := &s.docs[q.doc].lengths
		short, body := 0.0, 0.0
		for rest := q.fields; rest != 0; rest &= rest - 1 {
			f := bits.TrailingZeros8(rest)
			x := float64(q.counts[f]) / (shares[f].constant + shares[f].factor*float64(lengths[f]))
			switch field(f) {
			case bodyField:
				body = x
			case nameField, descriptionField:
				short += chiefWeight * x
			default:
				short += x
			}
		}
		x := bodyWeight * body / (body + bodyHalf)
		if short > 0 {
			x += short / (short + shortHalf)
		}
		n := int(q.doc)
		if short > 0 {
			r.inShort.add(n)
		}
		if q.fields&(1<<nameField) != 0 {
			r.inName.add(n)
		}
		if r.clause[n] == 0 {
			r.touched = append(r.touched, n)
		}
		if x *= weight; r.clause[n] == 0 || x > r.clause[n] {
			r.clause[n] = x
		}
	})
}

// A match is a document that matches, and its score.
type match struct {
	doc   int
	score float64
}

// floor is the share of the best score below which a document does not match.
const floor = 0.1

// matches returns the documents that match one or more phrasings, best first, and
// the number of skills that do. Those that are named come before all others.
func (s *scope) matches(phrasings []*scores, named []int) (all []match, total int) {
	sum := make([]float64, len(s.docs))
	for _, r := range phrasings {
		best := most(r.of)
		for n, score := range r.of {
			if score > 0 {
				sum[n] += score/best*(1-coverage+coverage*r.cover[n]/r.ideal) + r.named(n)
			}
		}
	}
	best := most(sum)
	least := floor * best
	for i, n := range named {
		sum[n] = 2*best + float64(len(named)-i)
	}
	for n, score := range sum {
		if score > least {
			all = append(all, match{n, score})
			if s.skill(n).Of == nil {
				total++
			}
		}
	}
	s.sort(all)
	return all, total
}

// most returns the largest of the numbers, or 0.
func most(all []float64) (most float64) {
	for _, x := range all {
		if x > most {
			most = x
		}
	}
	return most
}

// sort sorts documents by score, and those of the same score by name.
func (s *scope) sort(all []match) {
	slices.SortFunc(all, func(a, b match) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Compare(s.skill(a.doc).QualifiedName(), s.skill(b.doc).QualifiedName())
	})
}
