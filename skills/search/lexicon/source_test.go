package lexicon

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

var update = flag.Bool("update", false, "write terms.txt")

// sourceOf returns the words of people, of which terms.txt is made.
func sourceOf(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("lexicon.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// terms.txt has the stems of the words of lexicon.txt.
func TestTerms(t *testing.T) {
	made, err := compile(text.New(), sourceOf(t))
	if err != nil {
		t.Fatal(err)
	}
	made = "Generated from lexicon.txt: go test ./skills/search/lexicon -update\n" + made
	if *update {
		if err := os.WriteFile("terms.txt", []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if made != terms {
		t.Error("lexicon.txt or the stems have changed: run go test ./skills/search/lexicon -update")
	}
}

// compile returns lines for read, of lines such as
//
//	invoice, bill > accounting | de Rechnung | fr facture
//
// Words after > are found by those before it, and not the other way round. A # begins
// a comment.
func compile(a *text.Analyzer, source string) (string, error) {
	var all strings.Builder
	number := 0
	for text := range strings.Lines(source) {
		number++
		text, _, _ = strings.Cut(text, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		line, err := compileLine(a, text)
		if err != nil {
			return "", fmt.Errorf("line %d: %w", number, err)
		}
		all.WriteString(line + "\n")
	}
	return all.String(), nil
}

func compileLine(a *text.Analyzer, s string) (string, error) {
	var words, abouts []string
	for i, part := range strings.Split(s, "|") {
		language := text.English
		if i > 0 {
			var code string
			code, part, _ = strings.Cut(strings.TrimSpace(part), " ")
			var ok bool
			if language, ok = languageOf(code); !ok {
				return "", fmt.Errorf("there is no language %q", code)
			}
		}
		same, about, _ := strings.Cut(part, ">")
		for word := range strings.SplitSeq(same, ",") {
			terms := termsOf(a, word, language)
			if len(terms) == 0 {
				return "", fmt.Errorf("%q has no word", part)
			}
			words = append(words, strings.Join(terms, " "))
		}
		for word := range strings.SplitSeq(about, ",") {
			abouts = append(abouts, termsOf(a, word, language)...)
		}
	}
	return strings.Join(words, ",") + ">" + strings.Join(abouts, " "), nil
}

// termsOf returns the terms of the words of an entry, those of the language if it has
// stems.
func termsOf(a *text.Analyzer, entry string, language text.Language) []string {
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
