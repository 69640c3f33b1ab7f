package skills

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Severity is the consequence of a problem.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it did not load, or cannot run
	Warning Severity = "warning" // it loaded, but not as written or not as meant
	Note    Severity = "note"    // it says something that this server does not honour
)

// A Problem is the reason why something did not load, or loaded otherwise than its
// author may expect, with the remedy.
type Problem struct {
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Line     int      `json:"line,omitempty"` // from 1; 0 where the whole file is meant
	Col      int      `json:"col,omitempty"`  // from 1, in characters; 0 where it is not known
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy,omitempty"` // an imperative
}

// String renders the problem as compilers do: "path:line:col: severity:
// message (remedy)".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Col > 0 {
			fmt.Fprintf(&b, ":%d", p.Col)
		}
	}
	fmt.Fprintf(&b, ": %s: %s", p.Severity, p.Message)
	if p.Remedy != "" {
		fmt.Fprintf(&b, " (%s)", p.Remedy)
	}
	return Visible(b.String())
}

// Visible returns a stranger's text in one line, with Go's escapes for characters that
// end a line, control a terminal or are invisible.
func Visible(text string) string {
	var b strings.Builder
	prev := rune(0)
	for _, r := range text {
		if !unicode.IsControl(r) && !IsHidden(prev, r) {
			b.WriteRune(r)
			prev = r
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// UnreadableProblem returns the problem of a file that cannot be read.
func UnreadableProblem(file string, err error) Problem {
	return Problem{Severity: Error, Path: file, Message: unreadable + err.Error(), Remedy: notLoaded}
}

// unreadable begins the message of a problem with a file that could not be read.
const unreadable = "it cannot be read: "

// notLoaded is the remedy of a file that cannot be read.
const notLoaded = "check that it exists and may be read"

// CompareProblems orders problems as a catalog has them.
func CompareProblems(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}
