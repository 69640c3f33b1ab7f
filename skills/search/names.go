package search

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// A nameKey is a name of a document, whatever its case and separators. Two names may
// have the same hash.
type nameKey struct {
	hash uint64
	doc  uint32
}

func (k nameKey) compare(other nameKey) int {
	return cmp.Or(cmp.Compare(k.hash, other.hash), cmp.Compare(k.doc, other.doc))
}

// squash returns a name in lower case without anything but letters and digits.
func squash(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, text.Fold(name))
}

func hashOf(squashed string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(squashed)) // never fails
	return h.Sum64()
}

// namesOf returns the squashed names that a skill has, the most particular first.
func namesOf(s *skills.Skill) []string {
	names := []string{squash(s.QualifiedName()), squash(s.HashedToolName()), squash(s.Name), squash(s.DisplayName)}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.Sort(names[1:])
	return slices.Compact(names)
}

// appendNames appends the keys of a skill.
func appendNames(to []nameKey, s *skills.Skill, doc uint32) []nameKey {
	for _, name := range namesOf(s) {
		to = append(to, nameKey{hashOf(name), doc})
	}
	return to
}

// appendMoved appends those keys whose documents have a new number in moved, which is
// one more than it.
func appendMoved(to, from []nameKey, moved []uint32) []nameKey {
	for _, k := range from {
		if moved[k.doc] > 0 {
			to = append(to, nameKey{k.hash, moved[k.doc] - 1})
		}
	}
	return to
}
