package search

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

const (
	// leastShare is the number of skills for which another goroutine is worth its start.
	leastShare = 64
	// mostShare bounds the skills whose words are in memory at once: those of 5,000 skills
	// are 120 MB for a while, and a third of the time goes to the garbage collector.
	mostShare = 512
)

// build returns a segment of skills, or of some of them with the error of ctx.
func build(ctx context.Context, all []*skills.Skill, from *analyzers) (*segment, error) {
	workers := max(1, min(runtime.GOMAXPROCS(0), len(all)/leastShare))
	parts := make([]*segment, max(workers, (len(all)+mostShare-1)/mostShare))
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
				parts[i] = buildPart(ctx, all[i*len(all)/len(parts):(i+1)*len(all)/len(parts)], from)
			}
		})
	}
	group.Wait()
	if len(parts) == 1 {
		return parts[0], ctx.Err()
	}
	return merge(parts, nil), ctx.Err()
}

// buildPart returns a segment of skills, or of some of them once ctx is done.
func buildPart(ctx context.Context, all []*skills.Skill, from *analyzers) *segment {
	if len(all) == 0 {
		return &segment{}
	}
	a := from.get()
	defer from.put(a)
	b := &builder{analyzer: a, ids: map[string]uint32{}}
	for _, s := range all {
		if ctx.Err() != nil {
			break
		}
		b.add(newDocument(s))
	}
	return b.segment()
}

// analyzers are for reuse: the first words cost one as much as a skill's.
type analyzers struct{ pool sync.Pool }

func (p *analyzers) get() *text.Analyzer {
	if a, ok := p.pool.Get().(*text.Analyzer); ok {
		return a
	}
	return text.New()
}

// mostAnalyzed is the number of words above which an analyzer is garbage: it has those of
// a whole catalog.
const mostAnalyzed = 20_000

func (p *analyzers) put(a *text.Analyzer) {
	if a.Words() < mostAnalyzed {
		p.pool.Put(a)
	}
}

// A builder collects the terms of documents.
type builder struct {
	analyzer *text.Analyzer
	ids      map[string]uint32 // numbers of terms
	terms    []string          // by number
	ofWord   []wordTerms       // by the number of the word
	lists    []postingList     // by the number of the term

	docs    []doc
	touched []uint32 // terms of the current document
}

// wordTerms are the numbers of the terms of a word, plus one.
type wordTerms struct{ term, native uint32 }

type postingList struct {
	current posting // of the current document
	encoded []byte
	last    uint32 // document of the last that is encoded
	holders uint32
}

func (b *builder) add(d *document) {
	n := uint32(len(b.docs))
	entry := doc{skill: d.skill, names: namesOf(d.skill)}
	language := b.analyzer.Detect(strings.Join(d.texts[descriptionField], " "))
	for f, texts := range d.texts {
		length := 0
		for _, t := range texts {
			length += b.count(field(f), t, language)
		}
		entry.lengths[f] = uint16(min(length, math.MaxUint16))
	}
	b.docs = append(b.docs, entry)
	for _, id := range b.touched {
		l := &b.lists[id]
		l.current.doc = n
		l.encoded = l.current.appendTo(l.encoded, l.last)
		l.last, l.current = n, posting{}
		l.holders++
	}
	b.touched = b.touched[:0]
}

// count counts the terms of a text in a field, and returns its length in words.
func (b *builder) count(f field, t string, language text.Language) (words int) {
	for token := range b.analyzer.Tokens(t, language) {
		if token.Stop && f != nameField {
			continue
		}
		if token.Kind != text.Joined {
			words++
		}
		terms := b.termsOf(token.Word)
		b.increment(terms.term-1, f)
		if terms.native > 0 {
			b.increment(terms.native-1, f)
		}
	}
	return words
}

func (b *builder) increment(id uint32, f field) {
	p := &b.lists[id].current
	if p.fields == 0 {
		b.touched = append(b.touched, id)
	}
	p.fields |= 1 << f
	if p.counts[f] < math.MaxUint8 {
		p.counts[f]++
	}
}

func (b *builder) termsOf(word *text.Word) wordTerms {
	for word.ID >= len(b.ofWord) {
		b.ofWord = append(b.ofWord, wordTerms{})
	}
	known := &b.ofWord[word.ID]
	if known.term == 0 {
		known.term = b.id(word.Term) + 1
		if word.Native != "" {
			known.native = b.id(word.Native) + 1
		}
	}
	return *known
}

// id returns the number of a term.
func (b *builder) id(term string) uint32 {
	id, ok := b.ids[term]
	if !ok {
		id = uint32(len(b.terms))
		b.ids[term] = id
		b.terms = append(b.terms, term)
		b.lists = append(b.lists, postingList{})
	}
	return id
}

// segment returns the segment of the documents.
func (b *builder) segment() *segment {
	s := &segment{docs: b.docs}
	slices.Sort(b.terms)
	total := 0
	for _, l := range b.lists {
		total += len(l.encoded)
	}
	s.postings = make([]byte, 0, total)
	for _, term := range b.terms {
		l := &b.lists[b.ids[term]]
		s.starts = append(s.starts, uint32(len(s.postings)))
		s.holders = append(s.holders, l.holders)
		s.postings = append(s.postings, l.encoded...)
	}
	s.starts = append(s.starts, uint32(len(s.postings)))
	s.terms = b.terms
	return s
}
