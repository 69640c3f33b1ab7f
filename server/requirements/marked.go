package requirements

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// marked caches the copies of skills that were marked unavailable, so that an
// unchanged skill has the same copy in the next catalog: a comparison of catalogs finds
// the changes and no more. The zero value is empty.
type marked struct {
	before, after *skills.Catalog
	families      map[*skills.Skill]family // by the skill as it was read, without its tools
}

// A family is the copy of a skill with its tools, one of which lacks a requirement at least.
type family struct {
	marks  []mark // of the skill and then of its tools
	copied *skills.Skill
}

// apply returns the catalog with the skills marked unavailable that lack a requirement
// in their environment. It returns the catalog itself if none does, and never changes it.
func (m *marked) apply(catalog *skills.Catalog, where func(*skills.Skill) environment) *skills.Catalog {
	families, copies, same := map[*skills.Skill]family{}, map[*skills.Skill]*skills.Skill{}, catalog == m.before
	for _, skill := range catalog.Skills {
		owner := skill.Owner()
		if copies[owner] != nil {
			continue
		}
		marks := marksOf(owner, where)
		if !slices.ContainsFunc(marks, func(k mark) bool { return k.reason != "" }) {
			continue
		}
		f := m.families[owner]
		if !slices.Equal(f.marks, marks) {
			f, same = family{marks, withMarks(owner, marks)}, false
		}
		families[owner], copies[owner] = f, f.copied
		for i, tool := range owner.Tools {
			copies[tool] = f.copied.Tools[i]
		}
	}
	if !same || len(families) != len(m.families) {
		m.after = replaced(catalog, copies)
	}
	m.before, m.families = catalog, families
	return m.after
}

// A mark is the reason why a skill is unavailable, and the remedy; the zero mark is none.
type mark struct{ reason, remedy string }

// marksOf compares the requirements of a skill and of its tools with their environments.
func marksOf(owner *skills.Skill, where func(*skills.Skill) environment) []mark {
	marks := make([]mark, 1+len(owner.Tools))
	for i, s := range append([]*skills.Skill{owner}, owner.Tools...) {
		if s.Unavailable == "" && (!s.Requires.Empty() || s.Entry != nil) {
			marks[i].reason, marks[i].remedy = lacks(s.Needs(), where(s))
		}
	}
	return marks
}

// withMarks returns a copy of a skill and its tools with their marks.
func withMarks(owner *skills.Skill, marks []mark) *skills.Skill {
	owner = owner.Clone()
	for i, s := range append([]*skills.Skill{owner}, owner.Tools...) {
		if marks[i].reason == "" {
			continue
		}
		s.Unavailable = marks[i].reason
		s.Problems = append(slices.Clone(s.Problems), skills.Problem{
			Severity: skills.Warning, Path: s.File, Message: "it is not available here: " + s.Unavailable, Remedy: marks[i].remedy,
		})
	}
	return owner
}

// replaced returns the catalog with the copies in the places of its skills, and the
// problems that they have beyond those. It is the catalog itself without copies.
func replaced(catalog *skills.Catalog, copies map[*skills.Skill]*skills.Skill) *skills.Catalog {
	next := catalog.Replace(copies)
	if next == catalog {
		return next
	}
	next.Problems = slices.Clone(catalog.Problems)
	for i, s := range catalog.Skills {
		next.Problems = append(next.Problems, next.Skills[i].Problems[len(s.Problems):]...)
	}
	slices.SortStableFunc(next.Problems, skills.CompareProblems)
	return next
}
