package check

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// maxName is the longest name that the standard allows, in characters.
const maxName = 64

var (
	standardName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	// readable matches names that have one obvious normal form.
	readable = lazyregexp.New(`^[A-Za-z0-9 \t_./-]+$`)
	between  = lazyregexp.New(`[^a-z0-9]+`)
	// colonyName matches the names that Colony allows beyond the standard.
	colonyName = lazyregexp.New(`^[a-z0-9]+([-_][a-z0-9]+)*$`)
)

// IsName reports whether the Agent Skills standard allows a name: 1 to 64 of a-z,
// 0-9 and -, without a hyphen at either end or two in a row.
func IsName(name string) bool { return len(name) <= maxName && standardName.MatchString(name) }

// Normalize returns a name in the standard's form, "my-skill" for "My Skill". It
// returns "" if there is no obvious one: for letters beyond ASCII, and for names
// that remain too long.
func Normalize(name string) string {
	if !readable.MatchString(name) {
		return ""
	}
	normal := strings.Trim(between.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if !IsName(normal) {
		return ""
	}
	return normal
}
