package skills

import (
	"errors"
	"math"
	"strings"
	"time"
)

// SplitWords splits a text that a person wrote into words as a shell does, at blanks
// outside of quotes. A quote that is not closed reaches to the end: in "fix the
// user's bug" a shell's parser, such as mvdan.cc/sh, finds a fault, and in
// "a & b $5" commands and variables.
func SplitWords(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			inWord, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// JoinWords returns a text that [SplitWords] splits into the words.
func JoinWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\\'\"") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Enumerate renders "a, b or c".
func Enumerate(items []string, conjunction string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " " + conjunction + " " + items[last]
}

// Seconds is a number of seconds, as people and models write timeouts, as a
// duration: at least a millisecond, and as long as a duration can be where it is
// more. The error has the remedy.
func Seconds(n float64) (time.Duration, error) {
	switch {
	case math.IsNaN(n), math.IsInf(n, 0), n <= 0:
		return 0, errors.New("write a number of seconds above 0")
	case n >= float64(math.MaxInt64)/float64(time.Second):
		return math.MaxInt64, nil
	}
	return max(time.Duration(n*float64(time.Second)), time.Millisecond), nil
}
