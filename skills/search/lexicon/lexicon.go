// Package lexicon relates words that mean the same, in several languages, and the words
// of everyday speech to those of a trade: people who look for a skill do not know the
// words of its author.
//
// Start with [New] and [Lexicon.Related].
package lexicon

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

//go:embed lexicon.txt
var source string

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

// New reads the lexicon. An error is a fault of the source.
func New(a *text.Analyzer) (*Lexicon, error) { return parse(a, source) }

// parse reads lines such as
//
//	invoice, bill > accounting | de Rechnung | fr facture
//
// Words after > are found by those before it, and not the other way round. A # begins
// a comment.
func parse(a *text.Analyzer, source string) (*Lexicon, error) {
	l := &Lexicon{keys: map[string][]key{}}
	number := 0
	for text := range strings.Lines(source) {
		number++
		text, _, _ = strings.Cut(text, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := l.add(a, text); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return l, nil
}

// add adds a line.
func (l *Lexicon) add(a *text.Analyzer, s string) error {
	of := line{}
	number := len(l.lines)
	for i, part := range strings.Split(s, "|") {
		language := text.English
		if i > 0 {
			var code string
			code, part, _ = strings.Cut(strings.TrimSpace(part), " ")
			var ok bool
			if language, ok = languageOf(code); !ok {
				return fmt.Errorf("there is no language %q", code)
			}
		}
		words, about, _ := strings.Cut(part, ">")
		for word := range strings.SplitSeq(words, ",") {
			terms := terms(a, word, language)
			if len(terms) == 0 {
				return fmt.Errorf("%q has no word", part)
			}
			l.keys[terms[0]] = append(l.keys[terms[0]], key{terms[1:], number})
			if len(terms) == 1 {
				of.same = append(of.same, terms[0])
			}
		}
		for word := range strings.SplitSeq(about, ",") {
			of.about = append(of.about, terms(a, word, language)...)
		}
	}
	l.lines = append(l.lines, of)
	return nil
}

// terms returns the terms of the words of an entry, those of the language if it has
// stems.
func terms(a *text.Analyzer, entry string, language text.Language) []string {
	var all []string
	for token := range a.Tokens(entry, language) {
		if token.Kind == text.Joined || token.Kind == text.Part {
			continue
		}
		all = append(all, termOf(token.Word))
	}
	return all
}

func termOf(word *text.Word) string {
	if word.Native != "" {
		return word.Native
	}
	return word.Term
}

// languageOf returns the language of a code of ISO 639-1. Those without stems count as
// English.
func languageOf(code string) (text.Language, bool) {
	for l := text.English; l <= text.Dutch; l++ {
		if l.String() == code {
			return l, true
		}
	}
	return text.English, slices.Contains([]string{"ru", "zh", "ja", "ko", "ar", "pl", "tr"}, code)
}
