package review

import (
	"fmt"
	"io"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
)

// FindRepairs returns the possible repairs of each SKILL.md of the catalogs, loaded or
// not. Loading has reported unreadable files.
func FindRepairs(catalogs []*skills.Catalog, strict bool) []*check.Repair {
	var found []*check.Repair
	for _, file := range skillFiles(catalogs) {
		if repair, err := check.Open(file, strict); err == nil && repair != nil {
			found = append(found, repair)
		}
	}
	return found
}

// skillFiles returns the paths of each SKILL.md that the catalogs mention.
func skillFiles(catalogs []*skills.Catalog) []string {
	var files []string
	for _, catalog := range catalogs {
		for _, skill := range EverySkill(catalog) {
			if skill.Dir != "" && IsSkillFile(skill.File) {
				files = append(files, skill.File)
			}
		}
		for _, p := range catalog.Problems {
			if IsSkillFile(p.Path) {
				files = append(files, p.Path)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// WriteRepairs writes each repair as a whole, prints its changes to out and its error
// to stderr, and reports whether one has failed.
func WriteRepairs(repairs []*check.Repair, out, stderr io.Writer) (failed bool) {
	for _, r := range repairs {
		if err := r.Write(); err != nil {
			fmt.Fprintf(stderr, "skills-mcp: %s is not fixed: %v\n", r.Path, err)
			failed = true
			continue
		}
		for _, change := range r.Changes {
			place := fmt.Sprintf("%s:%d", r.Path, change.Line)
			if change.Col > 0 {
				place += fmt.Sprintf(":%d", change.Col)
			}
			fmt.Fprintf(out, "%s: fixed: %s\n", place, change.Message)
		}
	}
	return failed
}
