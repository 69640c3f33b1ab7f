package termtext

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Visible returns s in one line, with each character as a code that is invisible or that
// changes the direction of others. In contrast to [Text] nothing is lost.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Legible returns s with each hidden character as a code, and other characters as they are:
// lines stay lines, and emoji stay whole. In contrast to [Text] nothing is lost.
func Legible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	prev := rune(0)
	for _, r := range s {
		if skills.IsHidden(prev, r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}
