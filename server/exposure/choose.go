package exposure

import (
	"cmp"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Choose decides which of the skills are tools. cost is asked of few skills: those that
// become tools, and at most 40 others. The same facts give the same result.
func Choose(all []*skills.Skill, s State, cost func(*skills.Skill) Cost, o Options) *Exposure {
	e := &Exposure{options: o.withDefaults(), state: s, sources: skills.Sources(), looked: map[string]Decision{}}
	list := e.rank(all)
	e.order = make([]*skills.Skill, len(list))
	for i, r := range list {
		e.order[i] = r.skill
	}
	e.fill(list, cost)
	return e
}

// Of returns the decision on a skill.
func (e *Exposure) Of(skill *skills.Skill) Decision {
	if why := barred(skill); why != "" {
		return Decision{ByNobody, why}
	}
	r := e.rankOf(skill)
	if d, ok := e.looked[r.name]; ok {
		return d
	}
	switch {
	case e.options.Mode == All:
		return Decision{ByTool, cmp.Or(r.reason(), "every skill is a tool (expose.mode: all)")}
	case e.options.Mode == Search && r.level != byPerson:
		return Decision{BySearch, "only pinned skills are tools (expose.mode: search)"}
	}
	return r.omitted()
}
