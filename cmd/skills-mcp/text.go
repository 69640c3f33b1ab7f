package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// oneLine folds a text into one line of at most so many columns.
func oneLine(text string, most int) string {
	return terminal.Cut(flat(text), most)
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

// table writes a row of headings and rows, whose cells are separated by tabs. A narrow
// terminal goes without the optional columns, the first of them first.
func table(w io.Writer, rows func(w io.Writer), optional ...string) error {
	return writeTable(w, terminal.Table{Optional: optional}, rows)
}

// facts writes rows of a name and a text, separated by a tab.
func facts(w io.Writer, rows func(w io.Writer)) error {
	return writeTable(w, terminal.Table{Facts: true}, rows)
}

func writeTable(w io.Writer, t terminal.Table, rows func(w io.Writer)) error {
	var text strings.Builder
	rows(&text)
	return t.Write(w, text.String())
}
