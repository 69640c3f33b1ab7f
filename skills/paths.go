package skills

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxPaths is how many globs a skill may have.
const maxPaths = 64

// paths reads the globs of the files that the skill is about: a list, or text
// with commas between them.
func (p *parser) paths() {
	for _, glob := range p.fields.words("paths", splitGlobs) {
		glob = strings.TrimPrefix(strings.TrimSpace(glob), "./")
		switch {
		case glob == "":
		case !doublestar.ValidatePattern(glob):
			p.report(Warning, p.fields.line("paths"), "write it like src/**/*.go", "the glob %q in paths is not one and is ignored", glob)
		case len(p.skill.Paths) == maxPaths:
			p.report(Warning, p.fields.line("paths"), "use fewer", "there are more than %d globs in paths; the rest is ignored", maxPaths)
			return
		default:
			p.skill.Paths = append(p.skill.Paths, glob)
		}
	}
}

// splitGlobs splits at commas outside of braces: "*.{js,ts}" is one glob.
func splitGlobs(text string) []string {
	var globs []string
	depth, start := 0, 0
	for i, r := range text {
		switch {
		case r == '{':
			depth++
		case r == '}' && depth > 0:
			depth--
		case r == ',' && depth == 0:
			globs = append(globs, text[start:i])
			start = i + 1
		}
	}
	return append(globs, text[start:])
}
