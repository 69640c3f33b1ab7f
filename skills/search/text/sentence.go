package text

import (
	"iter"
	"slices"
	"strings"
)

// Sentences returns the sentences of a text with the characters that end them. A line
// is a sentence, too.
func Sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for at, r := range text {
			end := 0
			switch r {
			case '\n', '。', '！', '？', '；':
				end = at + len(string(r))
			case '.', '!', '?', ';':
				if at+1 == len(text) || text[at+1] == ' ' || text[at+1] == '\n' {
					end = at + 1
				}
			}
			if end > 0 {
				if !yield(text[start:end]) {
					return
				}
				start = end
			}
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// Excludes reports whether a sentence says when not to use something: "Not for …" or
// "Use … instead.".
func Excludes(sentence string) bool {
	sentence = strings.ToLower(sentence)
	if isASCII(sentence) && !containsAny(sentence, "not", "n't", "never", "avoid", "instead", "skip", "nicht", "ne pas", "no ") {
		return false
	}
	start := strings.TrimLeft(sentence, " \t\n-*•(\"'")
	return strings.HasPrefix(start, "not ") || strings.HasPrefix(start, "skip ") ||
		strings.Contains(strings.ReplaceAll(sentence, "instead of", ""), "instead") ||
		containsAny(sentence, "not use", "n't use", "n’t use", "not be used", "n't be used", "never use", "not trigger", "n't trigger", "never trigger",
			"not invoke", "not activate", "not apply", "n't apply", "not load", "not intended", "not meant", "not suitable", "not designed",
			"n't for", "is not for", "are not for", "avoid using",
			"nicht verwenden", "nicht benutzen", "nicht für", "nicht geeignet", "nicht gedacht", "ne pas", "no usar", "no utilizar", "no sirve", "no es para",
			"не использ", "не подходит", "не для", "не примен", "不要用", "不适用", "不用于", "使用しない", "使わない", "対象外")
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
