package search

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/search/lexicon"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// Weights of the words that the lexicon relates to those of a query.
const (
	sameWeight  = 0.7
	aboutWeight = 0.3
)

// relate adds the words of the lexicon as variants of the clauses of a query. The words
// of an entry count as one: the clause that weighs most gets its variants.
func relate(l *lexicon.Lexicon, all []clause, tokens []text.Token, natives func(*text.Word) []string) []clause {
	words := lexicon.Words(tokens, natives)
	whole := slices.DeleteFunc(slices.Clone(tokens), func(t text.Token) bool { return t.Kind == text.Joined || t.Kind == text.Part })
	for _, m := range l.Related(words) {
		at := heaviest(all, whole[m.First:m.First+m.Count])
		if at < 0 { // function words, such as "how much"
			at = len(all)
			all = append(all, clause{word: whole[m.First].Word, weight: 1})
		}
		c := &all[at]
		for _, r := range m.Related {
			weight := sameWeight
			if r.About {
				weight = aboutWeight
			}
			if !slices.ContainsFunc(c.variants, func(v variant) bool { return v.term == r.Term }) {
				c.variants = append(c.variants, variant{r.Term, weight})
			}
		}
	}
	return all
}

// pairWeight is the weight of pairs of characters that no skill has.
const pairWeight = 0.05

// heaviest returns the index of the clause of one of the tokens that weighs most, or -1.
func heaviest(all []clause, tokens []text.Token) int {
	best := -1
	for i, c := range all {
		is := slices.ContainsFunc(tokens, func(t text.Token) bool { return t.Term == c.word.Term })
		if is && (best < 0 || c.weight > all[best].weight) {
			best = i
		}
	}
	return best
}
