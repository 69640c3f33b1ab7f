package approval

import (
	"fmt"
	"math"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// bounds is the size of an argument in a question's text, in bytes.
type bounds int

const (
	form  bounds = 160
	whole bounds = math.MaxInt // for terminals, which page
)

// mark begins the lines of strangers' text: no other line of a question does.
const mark = "> "

// shown returns the value of an argument. One that is too long, or was stored so, is cut:
// its head and tail follow a note with the size and the digest of the true value.
func (b bounds) shown(a Argument) (text string, cut bool) {
	text = termtext.Visible(a.Value)
	if a.Size == len(a.Value) && len(text) <= int(b) {
		return text, false
	}
	note := fmt.Sprintf("(NOT SHOWN WHOLE: %d bytes, sha256 %s; its beginning and its end:) ", a.Size, a.Sum)
	return note + shorten(text, int(b)), true
}

// digest returns a digest, or the part of it that people compare.
func (b bounds) digest(digest string) string {
	if b == whole {
		return termtext.Visible(digest)
	}
	return shortDigest(digest)
}

// shortDigest returns the characters of a digest that people compare.
func shortDigest(digest string) string {
	_, hex, found := strings.Cut(digest, ":")
	if !found {
		hex = digest
	}
	return termtext.Visible(hex[:min(len(hex), digestShown)])
}
