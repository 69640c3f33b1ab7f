package search

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// An abbreviation is a short form that a document explains, as in "Service Level
// Objective (SLO)": one entry finds the words by the short form, and one the reverse.
type abbreviation struct {
	key, other string // terms, with spaces between them
	doc        uint32
}

func (a abbreviation) compare(b abbreviation) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.other, b.other), cmp.Compare(a.doc, b.doc))
}

func appendShorts(to, from []abbreviation, moved []uint32) []abbreviation {
	for _, a := range from {
		if moved[a.doc] > 0 {
			a.doc = moved[a.doc] - 1
			to = append(to, a)
		}
	}
	return to
}

const (
	longestShort = 6   // letters of a short form
	longestLong  = 120 // bytes before it that are searched for the words
	maxTaught    = 20  // abbreviations of a text
)

// appendTaught appends the abbreviations that a text explains.
func appendTaught(to []abbreviation, a *text.Analyzer, t string, doc uint32) []abbreviation {
	for rest, found := t, 0; found < maxTaught; {
		open := strings.IndexByte(rest, '(')
		if open < 0 {
			break
		}
		before := rest[max(0, open-longestLong):open]
		rest = rest[open+1:]
		end := strings.IndexByte(rest[:min(len(rest), longestShort+2)], ')')
		if end < 2 || !isShort(rest[:end]) {
			continue
		}
		short := strings.ToLower(strings.TrimSuffix(rest[:end], "s"))
		if long := explained(a, before, short); long != "" {
			to = append(to, abbreviation{short, long, doc}, abbreviation{long, termOf(a, short), doc})
			found++
		}
	}
	return to
}

// termOf returns the term of a word.
func termOf(a *text.Analyzer, word string) string {
	for token := range a.Tokens(word, text.English) {
		return token.Term
	}
	return word
}

// isShort reports whether a text is a short form: capital letters, and perhaps an s.
func isShort(s string) bool {
	s = strings.TrimSuffix(s, "s")
	return len(s) >= 2 && len(s) <= longestShort && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsUpper(r) || r > unicode.MaxASCII }) < 0
}

// explained returns the terms of the last words of a text that begin with the letters
// of a short form; "" where they do not.
func explained(a *text.Analyzer, before, short string) string {
	var words []*text.Word
	for token := range a.Tokens(before, text.English) {
		if token.Kind == text.Whole {
			words = append(words, token.Word)
		}
	}
	if len(words) < len(short) {
		return ""
	}
	var terms []string
	for i, word := range words[len(words)-len(short):] {
		if !strings.HasPrefix(word.Surface, short[i:i+1]) {
			return ""
		}
		terms = append(terms, word.Term)
	}
	return strings.Join(terms, " ")
}
