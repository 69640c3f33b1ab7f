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
	marks := marker{where, map[plain]mark{}}
	for _, skill := range catalog.Skills {
		if skill = skill.Owner(); m.copies[skill] == nil && !m.family(skill, last, marks) {
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
func (m *marked) family(owner *skills.Skill, last marked, of marker) (reused bool) {
	if !of.lacks(owner) && !slices.ContainsFunc(owner.Tools, of.lacks) {
		return true
	}
	reused = true
	all := append([]*skills.Skill{owner}, owner.Tools...)
	marks := make([]mark, len(all))
	for i, s := range all {
		marks[i] = of.mark(s)
		reused = reused && marks[i].is(last.copies[s], s)
	}
	if reused {
		for _, s := range all {
			m.copies[s] = last.copies[s]
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

// A marker marks the skills of one catalog.
type marker struct {
	where  func(*skills.Skill) environment
	plains map[plain]mark // of skills that require nothing but their interpreter: nearly all
}

// plain is all that the mark of such a skill depends on.
type plain struct{ role, interpreter string }

func (m marker) lacks(s *skills.Skill) bool { return m.mark(s).reason != "" }

func (m marker) mark(s *skills.Skill) mark {
	if s.Unavailable != "" {
		return mark{}
	}
	if !s.Requires.Empty() {
		return m.compare(s)
	}
	if s.Entry == nil || len(s.Entry.Interpreter) == 0 {
		return mark{}
	}
	key := plain{s.Entry.ImageRole, s.Entry.Interpreter[0]}
	k, known := m.plains[key]
	if !known {
		k = m.compare(s)
		m.plains[key] = k
	}
	return k
}

// compare compares the requirements of s with its environment.
func (m marker) compare(s *skills.Skill) mark {
	reason, remedy := lacks(s.Needs(), m.where(s))
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
