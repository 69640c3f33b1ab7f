package live

import (
	"os"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// touched returns the skills that have files among paths.
func touched(catalog *skills.Catalog, paths []string) []*skills.Skill {
	var all []*skills.Skill
	for _, skill := range catalog.Skills {
		if slices.ContainsFunc(paths, func(path string) bool { return touches(path, skill) }) {
			all = append(all, skill)
		}
	}
	return all
}

// touches reports whether path is a file of the skill, or has some below it.
func touches(path string, skill *skills.Skill) bool {
	if skill.Dir == "" { // packed: its file is below the package
		return below(path, skill.File)
	}
	return below(skill.Dir, path) || below(path, skill.Dir)
}

// below reports whether name is dir or below it. Both are clean absolute paths.
// It is cheaper than filepath.Rel: one change asks it of each skill.
func below(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}
