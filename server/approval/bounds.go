package approval

import (
	"fmt"
	"math"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// bounds are the size of a question's text.
type bounds struct {
	value int // bytes of an argument
}

// form is the size for forms, and whole that for terminals, which page.
var (
	form  = bounds{value: 160}
	whole = bounds{value: math.MaxInt}
)

// mark begins the lines of strangers' text: no other line of a question does.
const mark = "> "

// shown returns the value of an argument. One that is too long, or was stored so, is cut:
// its head and tail follow a note with the size and the digest of the true value.
func (b *bounds) shown(a Argument) (text string, cut bool) {
	text = termtext.Visible(a.Value)
	if a.Size == len(a.Value) && len(text) <= b.value {
		return text, false
	}
	return note(a.Size, a.Sum) + " " + shorten(text, b.value), true
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
