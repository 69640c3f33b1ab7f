package text

// A Kind is the relation of a token to its text.
type Kind uint8

const (
	// Whole is a word, also one that hyphens, underscores or slashes join to others.
	Whole Kind = iota
	// Joined is several words without what joins them: "codereview" in "code-review".
	// It has the position of the first of them, and comes before them.
	Joined
	// Part is a word within a camelCase word, or the name before a number: "java" and
	// "script" in "JavaScript", "python" in "python3". The whole comes before it and
	// has its position.
	Part
	// Pair is two adjacent characters of a script without spaces, or the only one.
	Pair
	// Number begins with a digit: "2", "10mb", "1.2.3".
	Number
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
	// Position counts the words of the text: all but Joined and Part.
	Position int
	// Start and End are the bytes of the text; those of the whole for a Part.
	Start, End int
}

// A run is words without spaces between them: "code-review". The offsets and positions
// of its pieces are relative to it.
type run struct {
	pieces []piece
	length int // words
}

// A piece is a token of a run.
type piece struct {
	word                 *Word
	kind                 Kind
	position, start, end int
}

func kindOf(word *Word, kind Kind) Kind {
	if kind == Whole && isDigit(word.Surface[0]) {
		return Number
	}
	return kind
}
