package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// A contender answers queries.
type contender struct {
	name string
	// alternatives says that the contender gets the other phrasings, too.
	alternatives bool
	search       func(ctx context.Context, q search.Query) (search.Result, error)
}

// chosen and fused are the names of the contenders that are judged.
const (
	chosen = "index"
	fused  = "index, alternatives"
)

// contenders returns all for a catalog, the plainest first.
func contenders(catalog *skills.Catalog) []contender {
	return []contender{
		{name: "substring", search: substring(catalog)},
		{name: "plain BM25", search: newPlain(catalog).search},
		{name: chosen, search: indexed(catalog)},
		{name: fused, alternatives: true, search: indexed(catalog)},
	}
}

func indexed(catalog *skills.Catalog) func(context.Context, search.Query) (search.Result, error) {
	index := search.New(nil)
	return func(ctx context.Context, q search.Query) (search.Result, error) {
		return index.Search(ctx, catalog, q)
	}
}

// substring returns the search of the first version: every word of the query occurs in
// the name, the description, when_to_use or the keywords; the best place counts.
func substring(catalog *skills.Catalog) func(context.Context, search.Query) (search.Result, error) {
	return func(_ context.Context, q search.Query) (r search.Result, _ error) {
		words := strings.Fields(strings.ToLower(q.Text))
		for _, s := range catalog.Skills {
			texts := []string{s.WhenToUse + "\n" + strings.Join(s.Keywords, "\n"), s.Description, s.QualifiedName()}
			if score := places(texts, words); score > 0 {
				r.Hits = append(r.Hits, search.Hit{Skill: s, Score: score})
			}
		}
		best(r.Hits)
		r.Doubtful = len(r.Hits) == 0
		return r, nil
	}
}

// places sums up where the words occur; 0 if one occurs nowhere.
func places(texts, words []string) (total float64) {
	for _, word := range words {
		at := -1
		for i, text := range texts {
			if strings.Contains(strings.ToLower(text), word) {
				at = i
			}
		}
		if at < 0 {
			return 0
		}
		total += float64(int(1) << (4 * at))
	}
	return total
}

// best sorts hits by score. Those of equal score stay in the catalog's order.
func best(hits []search.Hit) {
	slices.SortStableFunc(hits, func(a, b search.Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
}

// plain is BM25 over all texts of a skill as one, with the parameters of textbooks.
type plain struct {
	skills  []*skills.Skill
	counts  []map[string]int
	lengths []int
	holders map[string]int // the number of skills that have a word
	average float64        // words of a skill
}

func newPlain(catalog *skills.Catalog) *plain {
	p := &plain{skills: catalog.Skills, holders: map[string]int{}}
	total := 0
	for _, s := range catalog.Skills {
		text, _ := s.Text() // a skill without its text is found by the rest
		words := split(s.QualifiedName() + " " + s.Description + " " + s.WhenToUse + " " + strings.Join(s.Keywords, " ") + " " + text)
		counts := map[string]int{}
		for _, w := range words {
			counts[w]++
		}
		for w := range counts {
			p.holders[w]++
		}
		p.counts, p.lengths = append(p.counts, counts), append(p.lengths, len(words))
		total += len(words)
	}
	p.average = float64(total) / float64(max(1, len(p.skills)))
	return p
}

func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func (p *plain) search(_ context.Context, q search.Query) (r search.Result, _ error) {
	words := split(q.Text)
	for i, s := range p.skills {
		if score := p.score(i, words); score > 0 {
			r.Hits = append(r.Hits, search.Hit{Skill: s, Score: score})
		}
	}
	best(r.Hits)
	r.Doubtful = len(r.Hits) == 0
	return r, nil
}

func (p *plain) score(i int, words []string) (score float64) {
	const k1, b = 1.2, 0.75
	for _, w := range words {
		n, f := float64(p.holders[w]), float64(p.counts[i][w])
		idf := math.Log(1 + (float64(len(p.skills))-n+0.5)/(n+0.5))
		score += idf * f * (k1 + 1) / (f + k1*(1-b+b*float64(p.lengths[i])/p.average))
	}
	return score
}
