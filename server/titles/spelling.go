package titles

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRead bounds the part of a description that is read, in bytes.
const maxRead = 2 << 10

// shouting is the number of words in capital letters in a row that are loud, and no
// acronyms.
const shouting = 3

// A token is a word of a description.
type token struct {
	text  string
	first bool // of a sentence
	row   int  // of words in capital letters that it stands in
}

// spelling returns the words of a name, in lower case, as a description writes them: with
// capital letters inside (PDF, GitHub), with a dot inside (Next.js), or with a capital first
// letter that no sentence needs (Slack).
func spelling(words []string, description string) map[string]string {
	wanted := make(map[string]bool, len(words))
	for _, word := range words {
		wanted[strings.ToLower(word)] = true
	}
	strong, weak, small := map[string]string{}, map[string]string{}, map[string]bool{}
	for _, t := range tokens(description) {
		folded := strings.ToLower(strings.ReplaceAll(t.text, ".", ""))
		text := t.text
		if one := strings.TrimSuffix(text, "s"); !wanted[folded] && len(one) < len(text) && inCapitals(one) { // GIFs
			folded, text = strings.ToLower(one), one
		}
		switch {
		case !wanted[folded] || t.row >= shouting:
		case text == strings.ToLower(text) && !strings.Contains(text, "."):
			small[folded] = true
		case utf8.RuneCountInString(text) > 1 && text != capital(strings.ToLower(text)) || strings.Contains(text, ".") && text != folded:
			setFirst(strong, folded, text)
		case !t.first:
			setFirst(weak, folded, text)
		}
	}
	for word, text := range weak {
		if !small[word] {
			setFirst(strong, word, text)
		}
	}
	return strong
}

// setFirst sets the value of a key that has none.
func setFirst(m map[string]string, key, value string) {
	if m[key] == "" {
		m[key] = value
	}
}

// tokens returns the words of a description.
func tokens(description string) (all []token) {
	description = strings.ToValidUTF8(description[:min(len(description), maxRead)], "")
	begin := 0 // of the row of words in capital letters at the end of all
	first := true
	for rest := description; rest != ""; {
		start := strings.IndexFunc(rest, isLetter)
		if start < 0 {
			break
		}
		between := rest[:start]
		first = first || strings.ContainsAny(between, ".!?\n")
		n := wordLength(rest[start:])
		text := rest[start : start+n]
		rest = rest[start+n:]
		all = append(all, token{text: text, first: first})
		first = false
		at := len(all) - 1
		if !inCapitals(text) || at > begin && strings.TrimSpace(between) != "" {
			begin = at
		}
		if !inCapitals(text) {
			begin = at + 1
		}
		for i := max(begin, at-shouting+1); i <= at; i++ { // those before are loud already
			all[i].row = at - begin + 1
		}
	}
	return all
}

// wordLength returns the length of the word that text begins with. A dot before a letter
// is a part of it, and so is "_": names of variables spell no word.
func wordLength(text string) int {
	for i, r := range text {
		if isLetter(r) || r == '_' {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):]); r == '.' && isLetter(next) {
			continue
		}
		return i
	}
	return len(text)
}

func isLetter(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// inCapitals reports whether a word has several letters, and all are capital.
func inCapitals(word string) bool {
	letters := 0
	for _, r := range word {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			letters++
		}
	}
	return letters > 1
}

// capital returns a word with a capital first letter.
func capital(word string) string {
	for i, r := range word {
		return string(unicode.ToTitle(r)) + word[i+len(string(r)):]
	}
	return word
}
