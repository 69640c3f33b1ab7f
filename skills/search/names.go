package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// squash returns a name in lower case without anything but letters and digits.
func squash(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, text.Fold(name))
}

// namesOf returns the squashed names that a skill has: its own, and then the others.
func namesOf(s *skills.Skill) (names []string) {
	for _, name := range []string{s.Name, s.QualifiedName(), s.HashedToolName(), s.DisplayName} {
		if name = squash(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
