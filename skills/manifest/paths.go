package manifest

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// How much a skill may ask to look for.
const (
	maxPaths        = 64  // globs of one skill
	maxPathLength   = 256 // of one glob, in bytes
	maxAlternatives = 64  // ways to read the braces of one glob
)

// paths reads the globs of files that the skill is for. One that cannot be used
// is reported and left out.
func (p attributeReader) paths() {
	at := p.fields.pos("paths")
	for _, given := range p.fields.words("paths", splitPaths) {
		if given = strings.TrimSpace(given); given == "" {
			continue
		}
		if len(p.skill.Paths) == maxPaths {
			p.report(skills.Warning, at, "name fewer", "there are more than %d paths; the rest is ignored", maxPaths)
			return
		}
		glob, why := cleanGlob(given)
		if why != "" {
			p.report(skills.Warning, at, "write a pattern such as src/**/*.go", "the path %q %s and is ignored", truncate.String(given, maxEcho), why)
			continue
		}
		p.skill.Paths = append(p.skill.Paths, glob)
	}
}

// cleanGlob returns a glob in the form of Skill.Paths, or the reason why it
// cannot be used.
func cleanGlob(glob string) (cleaned, why string) {
	if len(glob) > maxPathLength {
		return "", "is too long"
	}
	for strings.HasPrefix(glob, "./") {
		glob = glob[len("./"):]
	}
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	switch {
	case path.IsAbs(glob) || glob == "":
		return "", "is not relative to the workspace"
	case slices.Contains(strings.Split(glob, "/"), ".."):
		return "", "leads out of the workspace"
	case !doublestar.ValidatePattern(glob):
		return "", "is not a pattern"
	case alternatives(glob) > maxAlternatives:
		return "", "has too many alternatives"
	}
	return glob, ""
}

// alternatives bounds in how many ways the braces of a glob can be read: it is
// the number of times that a matcher may have to try.
func alternatives(glob string) int {
	if strings.Contains(glob, "{") && strings.ContainsAny(glob, `[\`) {
		return maxAlternatives + 1 // the braces may be escaped
	}
	total := 1
	var open []int // alternatives of each brace that is open
	for _, r := range glob {
		switch {
		case r == '{':
			open = append(open, 1)
		case r == ',' && len(open) > 0:
			open[len(open)-1]++
		case r == '}' && len(open) > 0:
			total = min(total*open[len(open)-1], maxAlternatives+1)
			open = open[:len(open)-1]
		}
	}
	return total
}
