package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf16"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// oneLine folds a text into one line of at most so many characters.
func oneLine(text string, most int) string {
	runes := []rune(flat(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// flat folds a stranger's text into one line without control characters.
func flat(text string) string { return strings.Join(strings.Fields(termtext.Text(text)), " ") }

// visible escapes each character that is invisible or changes the direction of others.
func visible(text string) string { return termtext.Visible(text) }

func joinWords(words []string) string { return strings.Join(words, " ") }

// quoteWords joins words, quoted like a shell's. A word of several lines becomes ….
func quoteWords(words []string) string {
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

// day renders a date for people; "" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// table aligns the columns that rows writes, separated by tabs.
func table(w io.Writer, rows func(w io.Writer)) error {
	aligned := tabwriter.NewWriter(termtext.NewWriter(w), 0, 0, 2, ' ', 0)
	rows(aligned)
	return aligned.Flush()
}

// escapeJSON returns encoded JSON with escapes for characters of strings that are
// invisible, or that control a terminal.
func escapeJSON(encoded string) string {
	var b strings.Builder
	for _, r := range encoded {
		plain := r == '\n' || r >= ' ' && r < 0x7f // strings have no line ends
		if plain || visible(string(r)) == string(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
