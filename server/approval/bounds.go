package approval

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// bounds are the size of a question's text.
type bounds struct {
	value int // bytes of a stranger's text
	args  int // arguments with lines of their own; the others share one
	grown int // lines about what is new
	lines int // of an installation
}

// form is the size that clients show in a form: the whole has at most 32 lines.
var form = bounds{value: 160, args: 7, grown: 4, lines: 24}

// trustForm is that of a question that also asks for trust in a workspace.
var trustForm = bounds{value: 160, args: 3, grown: 2}

// whole is the size of the text on a terminal, which pages.
var whole = bounds{value: maxStored, args: 1 << 10, grown: 1 << 10, lines: 1 << 20}

// mark begins the lines of strangers' text: no other line of a question does.
const mark = "> "

// text returns a stranger's text in quotes, shortened to the bounds.
func (b *bounds) text(text string) string {
	quoted := quote(text)
	return b.cut(quoted, len(text), func() string { return digestOf(text) })
}

// list returns strangers' texts in quotes, shortened to the bounds.
func (b *bounds) list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	all := strings.Join(quoted, ", ")
	return b.cut(all, len(all), func() string { return digestOf(all) })
}

// shown returns the value of an argument, shortened to the bounds.
func (b *bounds) shown(a Argument) string {
	text := termtext.Visible(a.Value)
	if a.Size > len(a.Value) { // it was stored so
		return note(a.Size, a.Sum) + " " + shorten(text, min(b.value, len(text)))
	}
	return b.cut(text, a.Size, func() string { return a.Sum })
}

// cut returns a text, or its head and tail after a note with its size and digest.
func (b *bounds) cut(text string, size int, sum func() string) string {
	if len(text) <= b.value {
		return text
	}
	return note(size, sum()) + " " + shorten(text, b.value)
}

// digest returns a digest, or the part of it that people compare.
func (b *bounds) digest(digest string) string {
	if b == &whole {
		return termtext.Visible(digest)
	}
	return shortDigest(digest)
}

// note says that a text is not shown whole.
func note(size int, sum string) string {
	return fmt.Sprintf("(NOT SHOWN WHOLE: %d bytes, sha256 %s; its beginning and its end:)", size, sum)
}

// shortDigest returns the characters of a digest that people compare.
func shortDigest(digest string) string {
	_, hex, found := strings.Cut(digest, ":")
	if !found {
		hex = digest
	}
	return termtext.Visible(hex[:min(len(hex), digestShown)])
}
