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
	maxPaths      = 64  // globs of one skill
	maxPathLength = 256 // of one glob, in bytes
	// maxBraces and maxCommas bound the ways to read the braces of one glob, each of which
	// a matcher may have to try: 8 times 8.
	maxBraces = 2
	maxCommas = 14
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
	case strings.Count(glob, "{") > maxBraces || strings.Count(glob, ",") > maxCommas:
		return "", "has too many alternatives"
	}
	return glob, ""
}
