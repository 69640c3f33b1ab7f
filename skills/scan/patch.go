package scan

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// patch returns the catalog with the skills reread that have files among paths, if
// the paths can have changed nothing else; otherwise nil, with nothing changed. Its
// cost grows with the touched skills, not with the catalog: from a saved file to the
// published catalog 100, 1,000 and 10,000 skills take 102, 103 and 107 ms, of which
// 100 ms let the burst settle; by [Scanner.scan] with the memory of the last scan
// they take 105, 166 and 1,119 ms (medians of 8 in turns, two busy cores; see
// BenchmarkRescan).
func (m *memory) patch(paths []string, o Options) *skills.Catalog {
	touched := map[*candidate]bool{}
	for _, name := range paths {
		if !m.isContent(name) {
			return nil
		}
		for dir := range upwards(name) {
			for _, c := range m.candidates[dir] {
				touched[c] = true
			}
		}
	}
	catalog := *m.catalog
	again := map[*candidate]*candidate{}
	for c := range touched {
		next := c.again(o)
		if !replace(&catalog, c, next) {
			return nil
		}
		again[c] = next
	}
	for c, next := range again {
		c.skill = next.skill
	}
	if len(again) > 0 {
		m.catalog = &catalog
	}
	return m.catalog
}

// isContent reports whether a change of name can have changed nothing but a
// file's content: no folder came or went, nothing was a folder's or a link, and
// the walk did not look at it.
func (m *memory) isContent(name string) bool {
	known := m.listings[filepath.Dir(name)]
	if known == nil || m.listings[name] != nil || m.probed[name] {
		return false
	}
	at, found := slices.BinarySearchFunc(known, filepath.Base(name), compareName)
	if found && !known[at].Type().IsRegular() {
		return false
	}
	now, err := skillfs.DirFS(filepath.Dir(name)).ReadDir(".")
	return err == nil && known.same(now)
}

func compareName(e fs.DirEntry, name string) int { return cmp.Compare(e.Name(), name) }

// again reads the candidate again, as a new one.
func (c *candidate) again(o Options) *candidate {
	next := *c
	next.skill, next.err, next.held = c.fresh(), nil, nil
	next.load(o, nil)
	return &next
}

// replace puts next in the place of c. The catalog shares its slices with the one
// that it was made from, so they are copied. It reports whether that was all
// there was to do; if not, the catalog is of no use.
func replace(c *skills.Catalog, old, next *candidate) bool {
	name := next.skill.QualifiedName()
	if len(old.skill.Tools) > 0 || len(next.skill.Tools) > 0 {
		return false
	}
	if len(old.skill.Resources) > 0 || len(next.skill.Resources) > 0 { // others may claim the same
		return false
	}
	if old.err != nil || next.err != nil || name != old.skill.QualifiedName() {
		return false
	}
	at, found := c.Place(name)
	if !found || c.Skills[at] != old.skill || shadows(c, old.skill) || old.copied || old.original {
		return false
	}
	if !replaceProblems(c, old.skill, next.skill) {
		return false
	}
	c.Skills = slices.Clone(c.Skills)
	c.Skills[at] = next.skill
	return true
}

func shadows(c *skills.Catalog, s *skills.Skill) bool {
	return slices.ContainsFunc(c.Shadowed, func(shadow skills.Shadow) bool { return shadow.By == s || shadow.Skill == s })
}

// replaceProblems replaces the problems of a skill where its file has no others.
func replaceProblems(c *skills.Catalog, old, next *skills.Skill) bool {
	elsewhere := func(p skills.Problem) bool { return p.Path != old.File }
	if slices.ContainsFunc(old.Problems, elsewhere) || slices.ContainsFunc(next.Problems, elsewhere) {
		return false
	}
	from, _ := slices.BinarySearchFunc(c.Problems, old.File, func(p skills.Problem, file string) int { return cmp.Compare(p.Path, file) })
	to := from
	for to < len(c.Problems) && c.Problems[to].Path == old.File {
		to++
	}
	if !slices.Equal(c.Problems[from:to], sorted(old.Problems)) {
		return false
	}
	c.Problems = slices.Concat(c.Problems[:from], sorted(next.Problems), c.Problems[to:])
	return true
}

// sorted returns problems as a catalog has them.
func sorted(problems []skills.Problem) []skills.Problem {
	problems = slices.Clone(problems)
	slices.SortStableFunc(problems, skills.CompareProblems)
	return problems
}
