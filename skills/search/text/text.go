// Package text splits texts into the terms that a search compares: words and their
// stems, the parts of compounds, numbers with their units, and pairs of characters of
// scripts without spaces.
//
// Start with [New] and [Analyzer.Tokens].
package text

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
)

// mostWords bounds the words, and the runs, that an analyzer caches.
const mostWords = 1 << 18

// An Analyzer splits texts. Its caches grow with the distinct words, up to a bound. It
// is not for concurrent use.
type Analyzer struct {
	function map[string]languages
	words    [languageCount]map[string]*Word
	runs     [languageCount]map[string]run // by their bytes
	count    int                           // words so far
	stemmer
}

// New returns an analyzer.
func New() *Analyzer {
	a := &Analyzer{function: functionWords(), stemmer: stemmer{snowballstem.NewEnv("")}}
	for language := range a.words {
		a.words[language] = map[string]*Word{}
		a.runs[language] = map[string]run{}
	}
	return a
}

// Words returns the number of words so far: one above the largest ID.
func (a *Analyzer) Words() int { return a.count }

// Tokens returns the tokens of a text in the language, in the order of the text.
func (a *Analyzer) Tokens(text string, language Language) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		position := 0
		for at := 0; ; {
			start, end, dense := nextRun(text, at)
			if start == end {
				return
			}
			at = end
			r := a.run(text[start:end], dense, language)
			for _, p := range r.pieces {
				if !yield(Token{p.word, p.kind, position + p.position, start + p.start, start + p.end}) {
					return
				}
			}
			position += r.length
		}
	}
}

// Natives returns the stems of a word in each of the languages but English, for a
// query against texts in them.
func (a *Analyzer) Natives(word *Word, in []Language) []string {
	var natives []string
	for _, language := range in {
		if native := a.native(word.lower, language); native != "" {
			natives = append(natives, native)
		}
	}
	return natives
}

// word returns the word of a text that has no separators.
func (a *Analyzer) word(text string, language Language) *Word {
	lower := lower(text)
	if word := a.words[language][lower]; word != nil {
		return word
	}
	lower = strings.Clone(lower)
	word := &Word{ID: a.count, Surface: fold(lower), lower: lower}
	word.Term = a.term(word.Surface, lower)
	word.Native = a.native(lower, language)
	word.Stop = a.function[lower]&(1<<language|1<<English|1<<cyrillic) != 0
	a.count++
	if len(a.words[language]) < mostWords {
		a.words[language][lower] = word
	}
	return word
}

// run returns the tokens of a run.
func (a *Analyzer) run(text string, isDense bool, language Language) run {
	if isDense {
		return a.pairs(text, language)
	}
	if r, ok := a.runs[language][text]; ok {
		return r
	}
	r := a.split(text, language)
	if len(a.runs[language]) < mostWords && len(text) <= longestWord {
		a.runs[language][strings.Clone(text)] = r
	}
	return r
}

// pairs returns each two adjacent characters.
func (a *Analyzer) pairs(text string, language Language) run {
	var r run
	previous := -1
	for at, character := range text {
		if previous >= 0 {
			end := at + utf8.RuneLen(character)
			r = a.add(r, text[previous:end], Pair, segment{previous, end}, language)
			r.length++
		}
		previous = at
	}
	if r.length == 0 {
		r = a.add(r, text, Pair, segment{0, len(text)}, language)
		r.length = 1
	}
	return r
}

// split returns the tokens of a run that is not dense.
func (a *Analyzer) split(text string, language Language) run {
	var few [mostJoined]segment
	segments := segments(few[:0], text)
	var r run
	if joined, whole := join(text, segments); joined != "" {
		r = a.add(r, joined, Joined, segment{segments[0].start, segments[len(segments)-1].end}, language)
		if whole {
			r.pieces[0].kind = kindOf(r.pieces[0].word, Whole)
			r.length = 1
			return r
		}
	}
	for _, s := range segments {
		if word := text[s.start:s.end]; len(word) <= longestWord {
			r = a.add(r, word, Whole, s, language)
			for _, part := range parts(word) {
				r = a.add(r, part, Part, s, language)
			}
			r.length++
		}
	}
	return r
}

// add appends a word to a run, at the position of its end.
func (a *Analyzer) add(r run, text string, kind Kind, s segment, language Language) run {
	if word := a.word(text, language); word.Surface != "" {
		r.pieces = append(r.pieces, piece{word, kindOf(word, kind), r.length, s.start, s.end})
	}
	return r
}
