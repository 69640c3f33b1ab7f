// Package plain renders texts of strangers, and counts and dates, in one line for people.
// Start with [Flat].
package plain

import (
	"fmt"
	"strings"
	"time"

	"github.com/agext/levenshtein"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// OneLine folds a text into one line of at most so many columns.
func OneLine(text string, most int) string {
	return terminal.Cut(Flat(text), most)
}

// Flat folds a stranger's text into one line without control characters.
func Flat(text string) string { return strings.Join(strings.Fields(termtext.Text(text)), " ") }

// Visible escapes each character that is invisible or changes the direction of others.
func Visible(text string) string { return termtext.Visible(text) }

// QuoteWords joins words, quoted like a shell's. A word of several lines becomes ….
func QuoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		switch {
		case strings.Contains(word, "\n"):
			quoted[i] = "…" // a program, which --json has in full
		case word == "" || strings.ContainsAny(word, " \t'\"\\$`"):
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		default:
			quoted[i] = word
		}
	}
	return strings.Join(quoted, " ")
}

// Day renders a date for people; "" for the zero time.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// Count returns a number with its noun.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// DidYouMean returns the known word that is closest to one, as the end of an error; "" if
// none is close.
func DidYouMean(word string, known []string) string {
	best, distance := "", len(word)/2+1
	for _, other := range known {
		if d := levenshtein.Distance(word, other, nil); d < distance {
			best, distance = other, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
