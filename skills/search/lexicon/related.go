package lexicon

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// Related returns the entries that the words of a query have, in the order of the
// words, with the terms of the other words. A word is the terms that stand for it. Of
// entries that begin with the same word, the longest count.
func (l *Lexicon) Related(words [][]string) []Match {
	var all []Match
	for first := range words {
		longest, found := 0, []key(nil)
		for _, term := range words[first] {
			for _, k := range l.keys[term] {
				n := 1 + len(k.rest)
				if n < longest || !k.follows(words[first+1:]) {
					continue
				}
				if n > longest {
					longest, found = n, nil
				}
				found = append(found, k)
			}
		}
		if len(found) > 0 {
			all = append(all, Match{First: first, Count: longest, Related: l.related(found, words[first:first+longest])})
		}
	}
	return all
}

// follows reports whether the words begin with the rest of the key.
func (k key) follows(words [][]string) bool {
	if len(words) < len(k.rest) {
		return false
	}
	for i, term := range k.rest {
		if !slices.Contains(words[i], term) {
			return false
		}
	}
	return true
}

// related returns the terms of the lines of keys, without those of the words.
func (l *Lexicon) related(keys []key, words [][]string) []Related {
	var all []Related
	add := func(terms []string, about bool) {
		for _, term := range terms {
			isWord := slices.ContainsFunc(words, func(w []string) bool { return slices.Contains(w, term) })
			if !isWord && !slices.ContainsFunc(all, func(r Related) bool { return r.Term == term }) {
				all = append(all, Related{term, about})
			}
		}
	}
	for _, k := range keys {
		add(l.lines[k.line].same, false)
	}
	for _, k := range keys {
		add(l.lines[k.line].about, true)
	}
	return all
}

// Words returns the words of tokens for Related, without joined words and parts. natives
// returns further terms of a word.
func Words(tokens []text.Token, natives func(*text.Word) []string) [][]string {
	var all [][]string
	for _, token := range tokens {
		if token.Kind != text.Joined && token.Kind != text.Part {
			all = append(all, append([]string{token.Term}, natives(token.Word)...))
		}
	}
	return all
}
