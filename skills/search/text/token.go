package text

// A Kind is the relation of a token to its text.
type Kind uint8

const (
	// Whole is a word, also one that hyphens, underscores or slashes join to others.
	Whole Kind = iota
	// Joined is several words without what joins them: "codereview" in "code-review".
	// It comes before them.
	Joined
	// Part is a word within a camelCase word, or the name before a number: "java" and
	// "script" in "JavaScript", "python" in "python3". The whole comes before it.
	Part
	// Pair is two adjacent characters of a script without spaces, or the only one.
	Pair
)

// A Word is a distinct word of a language. An analyzer has one pointer for it.
type Word struct {
	// ID is the number of the word in its analyzer, from 0 in the order of appearance.
	ID int
	// Surface is the word in lower case, without diacritics.
	Surface string
	// Term is the English stem of Surface, or the Russian one of a Cyrillic word. It
	// does not depend on the language of the text.
	Term string
	// Native is the stem in the language of the text, with the language as a suffix:
	// "erstell~de". It is "" for an English text.
	Native string
	// Stop reports a function word of the text's language or of English.
	Stop bool

	lower string // in lower case, with diacritics, for the stems of other languages
}

// A Token is an occurrence of a word.
type Token struct {
	*Word
	Kind Kind
}
