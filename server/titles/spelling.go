package titles

import (
	"strings"
	"unicode"
)

// maxRead bounds the part of a description that is read, in bytes.
const maxRead = 2 << 10

// spelling returns the words of a name, in lower case, as a description writes them: with
// capital letters inside (PDF, GitHub), or with a capital first letter that no sentence
// needs (Slack, Next.js).
func spelling(words []string, description string) map[string]string {
	wanted := make(map[string]bool, len(words))
	for _, word := range words {
		wanted[strings.ToLower(word)] = true
	}
	spelt, first := map[string]string{}, true
	for _, text := range tokens(description) {
		begins := first
		first = strings.ContainsAny(text[len(text)-1:], ".!?")
		text = strings.Trim(text, ".!?*_")
		if one := strings.TrimSuffix(text, "s"); one != strings.ToLower(one) && one == strings.ToUpper(one) {
			text = one // GIFs
		}
		small := strings.ToLower(text)
		folded := strings.ReplaceAll(small, ".", "")
		if wanted[folded] && spelt[folded] == "" && text != small && (!begins || text != capital(small)) {
			spelt[folded] = text
		}
	}
	return spelt
}

// tokens returns the words of a description, with the signs at their end; none of one that
// begins with three words in capital letters, which are loud and no acronyms.
func tokens(description string) []string {
	description = strings.ToValidUTF8(description[:min(len(description), maxRead)], "")
	all := strings.Fields(description)
	begin := strings.Join(all[:min(3, len(all))], " ")
	if len(all) >= 3 && begin == strings.ToUpper(begin) && begin != strings.ToLower(begin) {
		return nil
	}
	return strings.FieldsFunc(description, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("/,;:()[]\"'`", r)
	})
}

// capital returns a word with a capital first letter.
func capital(word string) string {
	for i, r := range word {
		return string(unicode.ToTitle(r)) + word[i+len(string(r)):]
	}
	return word
}
