// Package lexicon relates words that mean the same, in several languages, and the words
// of everyday speech to those of a trade: people who look for a skill do not know the
// words of its author.
//
// Start with [New] and [Lexicon.Related].
package lexicon

import (
	_ "embed"
	"strings"
)

//go:embed terms.txt
var terms string

// A Related is a term that is related to words of a query.
type Related struct {
	// Term is one of [text.Word]: Term or Native.
	Term string
	// About says that it is a word of the trade for an everyday one; else it means the same,
	// in some language.
	About bool
}

// A Match is words of a query that the lexicon has.
type Match struct {
	// First and Count are the place of the words among those given to Related.
	First, Count int
	Related      []Related
}

// A Lexicon is read-only.
type Lexicon struct {
	keys  map[string][]key // by the first term
	lines []line
}

// key is an entry whose words begin with a term.
type key struct {
	rest []string // the terms of the other words
	line int
}

// line is a line of the source: the terms of words of the same meaning, and of those that
// they are about.
type line struct{ same, about []string }

// New reads the lexicon. Its words have their stems already: to make those took 37 ms of
// processor time of the first query, and a lookup of all takes 2.
func New() *Lexicon {
	_, lines, _ := strings.Cut(terms, "\n") // the first says who made the file
	return read(lines)
}

// read reads lines such as "invoic,bill>account": the terms of the words of an entry, with
// spaces between those of several words, and behind > what they are about.
func read(lines string) *Lexicon {
	l := &Lexicon{keys: map[string][]key{}}
	for text := range strings.Lines(lines) {
		words, about, _ := strings.Cut(strings.TrimSuffix(text, "\n"), ">")
		of := line{about: strings.Fields(about)}
		for word := range strings.SplitSeq(words, ",") {
			all := strings.Fields(word)
			l.keys[all[0]] = append(l.keys[all[0]], key{all[1:], len(l.lines)})
			if len(all) == 1 {
				of.same = append(of.same, all[0])
			}
		}
		l.lines = append(l.lines, of)
	}
	return l
}
