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
	copies        map[*skills.Skill]*skills.Skill // by the skill as it was read
}

// apply returns the catalog with the skills marked unavailable that lack a requirement
// in their environment. It returns the catalog itself if none does, and never changes it.
func (m *marked) apply(catalog *skills.Catalog, where func(*skills.Skill) environment) *skills.Catalog {
	last := *m
	m.before, m.copies = catalog, map[*skills.Skill]*skills.Skill{}
	reused := last.before == catalog
	for _, skill := range catalog.Skills {
		if skill = skill.Owner(); m.copies[skill] == nil && !m.family(skill, last, where) {
			reused = false
		}
	}
	if reused && len(m.copies) == len(last.copies) {
		m.after = last.after
	} else {
		m.after = replaced(catalog, m.copies)
	}
	return m.after
}

// family adds the copies of a skill and its tools, which refer to each other, if one of
// them lacks a requirement. It reports whether the copies are those of last.
func (m *marked) family(owner *skills.Skill, last marked, where func(*skills.Skill) environment) (reused bool) {
	lacking, reused := false, true
	marks := make([]mark, 1+len(owner.Tools))
	for i := range marks {
		s := owner
		if i > 0 {
			s = owner.Tools[i-1]
		}
		marks[i] = markOf(s, where)
		lacking = lacking || marks[i].reason != ""
		reused = reused && marks[i].is(last.copies[s], s)
	}
	switch {
	case !lacking:
		return true
	case reused:
		m.copies[owner] = last.copies[owner]
		for _, tool := range owner.Tools {
			m.copies[tool] = last.copies[tool]
		}
		return true
	}
	next := marks[0].copy(owner)
	next.Tools = make([]*skills.Skill, len(owner.Tools))
	for i, tool := range owner.Tools {
		next.Tools[i] = marks[i+1].copy(tool)
		next.Tools[i].Of = next
		m.copies[tool] = next.Tools[i]
	}
	m.copies[owner] = next
	return false
}

// A mark is the reason why a skill is unavailable, and the remedy; the zero mark is none.
type mark struct{ reason, remedy string }

func markOf(s *skills.Skill, where func(*skills.Skill) environment) mark {
	if s.Unavailable != "" || s.Requires.Empty() && (s.Entry == nil || len(s.Entry.Interpreter) == 0) {
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
	if len(copies) == 0 {
		return catalog
	}
	next := *catalog
	next.Skills, next.Shadowed = slices.Clone(catalog.Skills), slices.Clone(catalog.Shadowed)
	var problems []skills.Problem
	for i, s := range next.Skills {
		if copied := copies[s]; copied != nil {
			next.Skills[i] = copied
			problems = append(problems, copied.Problems[len(s.Problems):]...)
		}
	}
	for i, shadow := range next.Shadowed {
		if copied := copies[shadow.By]; copied != nil {
			next.Shadowed[i].By = copied
		}
	}
	next.Problems = slices.Concat(catalog.Problems, problems)
	slices.SortStableFunc(next.Problems, skills.CompareProblems)
	return &next
}
