package check

import (
	"regexp"
	"strings"
)

// maxName is the longest name that the standard allows, in characters.
const maxName = 64

var (
	standardName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	// readable are names of which it is clear how they are to be written.
	readable = regexp.MustCompile(`^[A-Za-z0-9 \t_./-]+$`)
	between  = regexp.MustCompile(`[^a-z0-9]+`)
	// colonyName is a name as Colony allows it beyond the standard.
	colonyName = regexp.MustCompile(`^[a-z0-9]+([-_][a-z0-9]+)*$`)
)

// IsName reports whether a name is one that the Agent Skills standard allows: 1
// to 64 of a-z, 0-9 and -, without a hyphen at either end or two in a row.
func IsName(name string) bool { return len(name) <= maxName && standardName.MatchString(name) }

// Normalize writes a name as the standard wants it, "My Skill" as "my-skill". It
// returns "" where it is not clear how: for letters beyond ASCII, and for what
// remains too long.
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
