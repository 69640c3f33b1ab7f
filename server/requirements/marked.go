package requirements

import (
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// marked caches the copies of skills that were marked unavailable, so that an
// unchanged skill has the same copy in the next catalog: a comparison of catalogs finds
// the changes and no more. The zero value is empty.
type marked struct {
	before, after *skills.Catalog
	copies        map[*skills.Skill]*skills.Skill // by the skill as it was read
}

// apply returns the catalog with the skills marked unavailable that lack a requirement
// in their environment. It returns the catalog itself if none does, and never changes it.
func (m *marked) apply(catalog *skills.Catalog, where func(*skills.Skill) environment) *skills.Catalog {
	copies := map[*skills.Skill]*skills.Skill{}
	for _, skill := range catalog.Skills {
		if owner := skill.Owner(); copies[owner] == nil {
			maps.Copy(copies, m.family(owner, where))
		}
	}
	if catalog != m.before || !maps.Equal(copies, m.copies) {
		m.after = replaced(catalog, copies)
	}
	m.before, m.copies = catalog, copies
	return m.after
}

// family returns the copies of a skill and its tools, which refer to each other, if one of
// them lacks a requirement: those of the last time, if they have the same marks.
func (m *marked) family(owner *skills.Skill, where func(*skills.Skill) environment) map[*skills.Skill]*skills.Skill {
	all := append([]*skills.Skill{owner}, owner.Tools...)
	marks, lacking, same := make([]mark, len(all)), false, true
	for i, s := range all {
		marks[i] = markOf(s, where)
		lacking = lacking || marks[i].reason != ""
		same = same && marks[i].is(m.copies[s], s)
	}
	if !lacking {
		return nil
	}
	copies := map[*skills.Skill]*skills.Skill{}
	for i, s := range all {
		if copies[s] = m.copies[s]; !same {
			copies[s] = marks[i].copy(s)
		}
	}
	if !same {
		next := copies[owner]
		next.Tools = make([]*skills.Skill, len(owner.Tools))
		for i, tool := range owner.Tools {
			next.Tools[i] = copies[tool]
			next.Tools[i].Of = next
		}
	}
	return copies
}

// A mark is the reason why a skill is unavailable, and the remedy; the zero mark is none.
type mark struct{ reason, remedy string }

// markOf compares the requirements of a skill with its environment.
func markOf(s *skills.Skill, where func(*skills.Skill) environment) mark {
	if s.Unavailable != "" || s.Requires.Empty() && s.Entry == nil {
		return mark{}
	}
	reason, remedy := lacks(s.Needs(), where(s))
	return mark{reason, remedy}
}

// is reports whether copy is that of s with the mark.
func (k mark) is(copy, s *skills.Skill) bool {
	if copy == nil {
		return false
	}
	if k.reason == "" {
		return copy.Unavailable == s.Unavailable
	}
	return copy.Unavailable == k.reason && copy.Problems[len(s.Problems)].Remedy == k.remedy
}

func (k mark) copy(s *skills.Skill) *skills.Skill {
	copied := *s
	if k.reason != "" {
		copied.Unavailable = k.reason
		copied.Problems = append(slices.Clone(s.Problems), skills.Problem{
			Severity: skills.Warning, Path: s.File, Message: "it is not available here: " + k.reason, Remedy: k.remedy,
		})
	}
	return &copied
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
