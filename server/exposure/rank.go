package exposure

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// reason returns the level in words, for people; "" for byNobody.
func (r ranked) reason() string {
	switch r.level {
	case byPerson:
		if r.skill.Priority > 0 {
			return "pinned by the profile"
		}
		if r.skill.PinnedByPerson {
			return "pinned by you"
		}
		return "pinned by the configuration"
	case byFiles:
		return "the workspace has files for it"
	case byAuthor:
		return "pinned by its author"
	case byUse:
		return "used before"
	}
	return ""
}

// omitted returns the decision on a skill for which there is no room.
func (r ranked) omitted() Decision {
	switch {
	case r.level != byNobody:
		return Decision{BySearch, r.reason() + "; over the limits of expose"}
	case r.skill.Of != nil:
		return Decision{BySearch, "not all fit; load_skill of " + r.skill.Of.QualifiedName() + " names it"}
	}
	return Decision{BySearch, "not all fit; not pinned, never used"}
}

// compare orders skills, best first.
func (r ranked) compare(o ranked) int {
	if r.last != o.last {
		if o.last {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(r.level, o.level), cmp.Compare(r.pin, o.pin), cmp.Compare(o.uses, r.uses),
		cmp.Compare(r.source, o.source), cmp.Compare(r.name, o.name))
}

// rank orders skills, best first.
func (e *Exposure) rank(all []*skills.Skill) []ranked {
	list := make([]ranked, len(all))
	for i, skill := range all {
		list[i] = e.rankOf(skill)
	}
	slices.SortFunc(list, ranked.compare)
	return list
}

func (e *Exposure) rankOf(skill *skills.Skill) ranked {
	name := skill.QualifiedName()
	r := ranked{skill: skill, name: name, level: byNobody, uses: e.options.Uses[name], source: slices.Index(e.sources, skill.Source)}
	pin := slices.IndexFunc(e.options.Pin, func(pattern string) bool { return Matches(pattern, skill) })
	switch {
	case skill.Priority > 0: // before those of the configuration
		r.level, r.pin = byPerson, skill.Priority-1-math.MaxInt32
	case pin >= 0:
		r.level, r.pin = byPerson, pin
	case skill.PinnedByPerson: // after those of the configuration
		r.level, r.pin = byPerson, len(e.options.Pin)
	case e.state.Active[name]:
		r.level = byFiles
	case skill.Pinned:
		r.level = byAuthor
	case r.uses > 0:
		r.level = byUse
	}
	r.last = r.level != byPerson && skill.Untrusted()
	return r
}

// The turns of skills within those of one trust, in the order of filling.
const (
	withReason = iota
	shownBefore
	skillItself
	toolOfSkill // which the instructions of its skill name
	turns
)

// turnOf returns the turn of a skill.
func (e *Exposure) turnOf(r ranked) (turn int) {
	switch {
	case r.level != byNobody:
		turn = withReason
	case e.state.Shown != nil && e.state.Shown(r.skill):
		turn = shownBefore
	case r.skill.Of == nil:
		turn = skillItself
	default:
		turn = toolOfSkill
	}
	if r.last {
		turn += turns
	}
	return turn
}

// line returns the skills of a ranking that can be tools, in the order of filling, and the
// number of those that are not the tools of others.
func (e *Exposure) line(list []ranked) (queue []ranked, proper int) {
	var groups [2 * turns][]ranked
	for _, r := range list {
		if barred(r.skill) != "" {
			continue
		}
		turn := e.turnOf(r)
		groups[turn] = append(groups[turn], r)
		if r.skill.Of == nil {
			proper++
		}
	}
	if itself := groups[skillItself]; len(itself) > e.options.MaxTools && e.options.Mode != All {
		groups[skillItself], e.topics = varied(itself)
	}
	return slices.Concat(groups[:]...), proper
}

// varied orders skills so that the first are of many topics: one of each, then the next of
// each. Of a topic, those come first whose own names have its word, and the shortest of them,
// which are the most general. The order of the sources stays.
func varied(list []ranked) (order []ranked, topics []topic) {
	all := make([]*skills.Skill, len(list))
	for i, r := range list {
		all[i] = r.skill
	}
	topics, others := topicsOf(all)
	for _, t := range topics {
		distance := func(n int) int {
			if strings.Contains(strings.ToLower(all[n].Name), t.word) {
				return len(all[n].Name)
			}
			return len(all[n].Name) + skills.MaxToolName
		}
		slices.SortStableFunc(t.skills, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
	}
	groups := append(slices.Clip(topics), topic{skills: others})
	for round := 0; len(order) < len(list); round++ {
		for _, t := range groups {
			if round < len(t.skills) {
				order = append(order, list[t.skills[round]])
			}
		}
	}
	slices.SortStableFunc(order, func(a, b ranked) int { return cmp.Compare(a.source, b.source) })
	return order, topics
}

// catalogOrder returns the skills of the rest of a queue in the order of
// [Exposure.Catalog]: those with a reason, those outside of plugins, those of plugins, and then the
// tools of skills, which the instructions of their skill name.
func catalogOrder(rest []ranked) (order []*skills.Skill, withReason int) {
	var asked, alone, inPlugin, tools []*skills.Skill
	for _, r := range rest {
		switch {
		case r.level != byNobody:
			asked = append(asked, r.skill)
		case r.skill.Of != nil:
			tools = append(tools, r.skill)
		case r.skill.Plugin == "":
			alone = append(alone, r.skill)
		default:
			inPlugin = append(inPlugin, r.skill)
		}
	}
	return slices.Concat(asked, alone, inPlugin, tools), len(asked)
}

// Matches reports whether a pattern of the configuration names a skill: by its
// qualified name, or by its bare one where the pattern has no slash and the skill is not
// of an untrusted workspace. The wildcards * and ? match within one part, as in [path.Match].
func Matches(pattern string, skill *skills.Skill) bool {
	if ok, err := path.Match(pattern, skill.QualifiedName()); ok || err != nil {
		return ok
	}
	ok, _ := path.Match(pattern, skill.Name)
	return ok && !skill.Untrusted() && !strings.Contains(pattern, "/")
}
