package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// A Language is one whose words have stems. English stands for all others, too.
type Language uint8

// The languages. A Cyrillic word has a Russian stem in each of them.
const (
	English Language = iota
	German
	French
	Spanish
	Portuguese
	Italian
	Dutch
	languageCount

	cyrillic = languageCount // of function words only
)

// languages is a set of them.
type languages uint16

// String returns the code of ISO 639-1.
func (l Language) String() string {
	return [...]string{"en", "de", "fr", "es", "pt", "it", "nl", "ru"}[l]
}

// A stemmer returns stems of words in lower case.
type stemmer struct{ env *snowballstem.Env }

// term returns the stem of a word that is the same in the texts of all languages.
// surface is the folded word.
func (s stemmer) term(surface, lower string) string {
	if isASCII(surface) {
		return s.stem(surface, english.Stem)
	}
	if first, _ := utf8.DecodeRuneInString(surface); unicode.Is(unicode.Cyrillic, first) {
		return fold(s.stem(lower, russian.Stem))
	}
	return surface
}

// native returns the stem of a word in lower case in a language, with its suffix, or
// "" for English.
func (s stemmer) native(lower string, language Language) string {
	stem := [...]func(*snowballstem.Env) bool{nil, german.Stem, french.Stem, spanish.Stem,
		portuguese.Stem, italian.Stem, dutch.Stem}[language]
	if stem == nil {
		return ""
	}
	return fold(s.stem(spelled(lower, language), stem)) + "~" + language.String()
}

// spelled returns a word as its stemmer expects it: in German with umlauts, in Portuguese
// without the plural of short words in "ção".
func spelled(lower string, language Language) string {
	switch language {
	case German:
		return umlauts(lower)
	case Portuguese:
		if stem, ok := strings.CutSuffix(lower, "ões"); ok {
			return stem + "ão"
		}
	}
	return lower
}

// umlauts returns a word with "ä" for "ae", "ö" for "oe" and "ü" for "ue", but after a
// vowel, as in "neue", and after a "q".
func umlauts(lower string) string {
	if !strings.Contains(lower, "ae") && !strings.Contains(lower, "oe") && !strings.Contains(lower, "ue") {
		return lower
	}
	var b strings.Builder
	for at := 0; at < len(lower); at++ {
		follows := at > 0 && strings.IndexByte("aeiouq", lower[at-1]) >= 0
		if follows || at+1 == len(lower) || lower[at+1] != 'e' || strings.IndexByte("aou", lower[at]) < 0 {
			b.WriteByte(lower[at])
			continue
		}
		b.WriteString(map[byte]string{'a': "ä", 'o': "ö", 'u': "ü"}[lower[at]])
		at++
	}
	return b.String()
}

// stem returns the stem of a word that has a letter and no digit, else the word.
func (s stemmer) stem(word string, stem func(*snowballstem.Env) bool) string {
	if len(word) < 3 || strings.ContainsAny(word, "0123456789+#") {
		return word
	}
	s.env.SetCurrent(word)
	stem(s.env)
	return s.env.Current()
}
