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
	runs     [languageCount]map[string][]Token // by their bytes
	count    int                               // words so far
	stemmer
}

// New returns an analyzer.
func New() *Analyzer {
	a := &Analyzer{function: functionWords(), stemmer: stemmer{snowballstem.NewEnv("")}}
	for language := range a.words {
		a.words[language] = map[string]*Word{}
		a.runs[language] = map[string][]Token{}
	}
	return a
}

// Words returns the number of words so far: one above the largest ID.
func (a *Analyzer) Words() int { return a.count }

// Tokens returns the tokens of a text in the language, in the order of the text.
func (a *Analyzer) Tokens(text string, language Language) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for at := 0; ; {
			start, end, dense := nextRun(text, at)
			if start == end {
				return
			}
			at = end
			for _, token := range a.run(text[start:end], dense, language) {
				if !yield(token) {
					return
				}
			}
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

// run returns the tokens of a run: words without spaces between them, such as "code-review".
func (a *Analyzer) run(text string, isDense bool, language Language) []Token {
	if isDense {
		return a.pairs(text, language)
	}
	if tokens, ok := a.runs[language][text]; ok {
		return tokens
	}
	tokens := a.split(text, language)
	if len(a.runs[language]) < mostWords && len(text) <= longestWord {
		a.runs[language][strings.Clone(text)] = tokens
	}
	return tokens
}

// pairs returns each two adjacent characters.
func (a *Analyzer) pairs(text string, language Language) (tokens []Token) {
	previous := -1
	for at, character := range text {
		if previous >= 0 {
			tokens = a.add(tokens, text[previous:at+utf8.RuneLen(character)], Pair, language)
		}
		previous = at
	}
	if previous == 0 {
		tokens = a.add(tokens, text, Pair, language)
	}
	return tokens
}

// split returns the tokens of a run that is not dense.
func (a *Analyzer) split(text string, language Language) (tokens []Token) {
	var few [mostJoined]segment
	segments := segments(few[:0], text)
	switch joined, whole := join(text, segments); {
	case whole:
		return a.add(nil, joined, Whole, language)
	case joined != "":
		tokens = a.add(tokens, joined, Joined, language)
	}
	for _, s := range segments {
		if word := text[s.start:s.end]; len(word) <= longestWord {
			tokens = a.add(tokens, word, Whole, language)
			for _, part := range parts(word) {
				tokens = a.add(tokens, part, Part, language)
			}
		}
	}
	return tokens
}

// add appends a word to the tokens of a run.
func (a *Analyzer) add(tokens []Token, text string, kind Kind, language Language) []Token {
	if word := a.word(text, language); word.Surface != "" {
		tokens = append(tokens, Token{word, kind})
	}
	return tokens
}
