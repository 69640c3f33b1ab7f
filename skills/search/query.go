package search

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/search/lexicon"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

const (
	maxQuery   = 4 << 10 // bytes of a phrasing that are read
	maxClauses = 40      // words of a phrasing that are searched
	maxTypos   = 6       // words of a phrasing for which similar ones are looked up
	maxSimilar = 8       // terms that stand for one word
)

var allLanguages = []text.Language{text.German, text.French, text.Spanish, text.Portuguese, text.Italian, text.Dutch}

// clauses returns the words of a query, with those that the lexicon relates to them.
// Function words count if there are no others.
func (s *scope) clauses(a *text.Analyzer, l *lexicon.Lexicon, query string) []clause {
	query = query[:min(len(query), maxQuery)]
	var all, stops []clause
	language := a.Detect(query)
	tokens := slices.Collect(a.Tokens(query, language))
	for _, token := range tokens {
		c := clause{word: token.Word, weight: 1}
		switch {
		case token.Kind == text.Joined:
			c.weight = joinedWeight
		case token.Kind == text.Part:
			c.weight = partWeight
		case isRequest(token.Surface):
			c.weight = requestWeight
		}
		c.variants = []variant{{token.Term, 1}}
		for _, native := range a.Natives(token.Word, allLanguages) {
			c.variants = append(c.variants, variant{native, 1})
		}
		list := &all
		if token.Stop {
			list = &stops
		}
		if !slices.ContainsFunc(*list, func(o clause) bool { return o.word.Term == c.word.Term }) && len(*list) < maxClauses {
			*list = append(*list, c)
		}
	}
	natives := func(w *text.Word) []string { return s.natives(a, w, language) }
	if all = relate(l, all, tokens, natives); len(all) == 0 {
		return stops
	}
	s.lightenPairs(all, tokens)
	return all
}

// lightenPairs takes weight off pairs of characters that no skill has: most are of two
// words.
func (s *scope) lightenPairs(all []clause, tokens []text.Token) {
	for _, t := range tokens {
		if t.Kind != text.Pair {
			continue
		}
		for i := range all {
			if all[i].word.Term == t.Term && !slices.ContainsFunc(all[i].variants, func(v variant) bool { return s.holders(v.term) > 0 }) {
				all[i].weight = min(all[i].weight, pairWeight)
			}
		}
	}
}

// natives returns the stems of a word in the language of the query; in all languages
// where a short query does not show its language, and no skill has the word.
func (s *scope) natives(a *text.Analyzer, w *text.Word, language text.Language) []string {
	switch {
	case language != text.English:
		return a.Natives(w, []text.Language{language})
	case s.holders(w.Term) > 0:
		return nil
	}
	return a.Natives(w, allLanguages)
}

const (
	joinedWeight  = 0.5
	partWeight    = 0.5
	requestWeight = 0.2
)

// isRequest reports whether a word is of the request rather than of its subject.
func isRequest(surface string) bool {
	switch surface {
	case "want", "wants", "need", "needs", "help", "make", "makes", "making", "get", "give", "like", "way",
		"thing", "things", "something", "anything", "someone", "use", "using", "used", "skill", "tool",
		"task", "good", "best", "new", "lot", "stuff", "show", "tell", "know", "let", "look", "looking", "trying", "try":
		return true
	}
	return false
}

// expand adds the variants of the clauses whose words the scope does not have.
func (s *scope) expand(all []clause) {
	typos := 0
	for i := range all {
		c := &all[i]
		if slices.ContainsFunc(c.variants, func(v variant) bool { return s.holders(v.term) > 0 }) {
			continue
		}
		length := utf8.RuneCountInString(c.word.Surface)
		var found []candidate
		if length >= shortestPrefix {
			found = s.candidates(s.terms.prefixed(c.word.Surface), prefixWeight)
		}
		if typos < maxTypos && length >= shortestTypo && len(found) == 0 {
			typos++
			found = s.misspelt(c.word)
		}
		for _, f := range found {
			c.variants = append(c.variants, f.variant)
		}
	}
}

// shortestPrefix is the length in characters of the shortest beginning of a word. The stem
// of a word is none: "vans" is no beginning of "vanilla".
const shortestPrefix = 4

// shortestTypo is the length in characters of the shortest word that may be misspelt: too
// many words resemble a shorter one.
const shortestTypo = 5

// misspelt returns the terms that a word with a typo may stand for.
func (s *scope) misspelt(word *text.Word) []candidate {
	for _, try := range []string{word.Term, word.Surface} {
		if found := s.candidates(s.terms.similar(try), typoWeight); len(found) > 0 {
			return found
		}
	}
	return nil
}

const (
	prefixWeight = 0.6
	typoWeight   = 0.8
)

// A candidate is a variant and the number of documents that have it.
type candidate struct {
	variant
	holders int
}

// candidates returns those of the terms that the scope has, the most frequent first.
func (s *scope) candidates(terms iter.Seq[string], weight float64) []candidate {
	var found []candidate
	for term := range terms {
		if strings.Contains(term, "~") {
			continue
		}
		if n := s.holders(term); n > 0 {
			found = append(found, candidate{variant{term, weight}, n})
		}
		if len(found) > 16*maxSimilar {
			break
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.holders != b.holders {
			return b.holders - a.holders
		}
		return strings.Compare(a.term, b.term)
	})
	return found[:min(len(found), maxSimilar)]
}
