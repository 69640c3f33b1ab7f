package overlap

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// apart reports whether a model can tell two similar skills apart: one says when to use
// the other, or each has a word in its name that the other does not have, and one of
// them in its description, too: "aws" and "azure".
func apart(a, b *document) bool {
	if mentions(a, b) || mentions(b, a) {
		return true
	}
	named, told := distinguished(a, b)
	otherNamed, otherTold := distinguished(b, a)
	return named && otherNamed && (told || otherTold)
}

// mentions reports whether a description has another skill's name. A name of one word
// may be the subject, such as "pdf": it must be in a reference.
func mentions(d, other *document) bool {
	name := text.Fold(other.skill.Name)
	if !strings.Contains(d.text, name) || len(name) < 3 {
		return false
	}
	if strings.ContainsAny(name, "-_") {
		return true
	}
	for _, before := range []string{"`", "use ", "use the ", "see ", "prefer "} {
		if strings.Contains(d.text, before+name) {
			return true
		}
	}
	return false
}

// distinguished reports whether another document does not have a word of d's name, and
// whether d's description has it.
func distinguished(d, from *document) (named, told bool) {
	for _, t := range d.terms {
		if t.named && !from.has(t.id) {
			named, told = true, told || t.told
		}
	}
	return named, told
}
