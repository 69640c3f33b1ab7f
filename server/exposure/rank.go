package exposure

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A level is the reason to make a skill a tool, best first. Authors come after the person, who
// has not written the skill; and an untrusted workspace after all that the person has.
type level int

const (
	byPerson level = iota // the configuration pins it
	byFiles               // the workspace has files for it
	byAuthor              // its frontmatter pins it
	byUse                 // it was called before
	byNobody              // no reason
)

// ranked is a skill with the criteria of its rank.
type ranked struct {
	skill *skills.Skill
	name  string // its qualified name
	level level
	pin   int // index of the pattern, for byPerson
	uses  int
}

// reason returns the level in words, for people; "" for byNobody.
func (r ranked) reason() string {
	switch r.level {
	case byPerson:
		return "pinned by the configuration"
	case byFiles:
		return "the workspace has files for it"
	case byAuthor:
		return "pinned by its author"
	case byUse:
		if r.uses == 1 {
			return "used once"
		}
		return fmt.Sprintf("used %d times", r.uses)
	}
	return ""
}

// rank orders skills, best first.
func rank(all []*skills.Skill, active map[string]bool, o Options) []ranked {
	list := make([]ranked, len(all))
	for i, skill := range all {
		list[i] = rankOf(skill, active, o)
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(
			cmp.Compare(a.order(), b.order()), cmp.Compare(a.pin, b.pin), cmp.Compare(b.uses, a.uses),
			cmp.Compare(a.name, b.name))
	})
	return list
}

// order returns the first criterion of the ranking: the level, with the skills of an
// untrusted workspace after all others.
func (r ranked) order() level {
	switch {
	case r.level == byNobody:
		return 2 * byNobody
	case r.level != byPerson && r.skill.Untrusted():
		return r.level + byNobody
	}
	return r.level
}

func rankOf(skill *skills.Skill, active map[string]bool, o Options) ranked {
	name := skill.QualifiedName()
	r := ranked{skill: skill, name: name, level: byNobody, uses: o.Uses[name]}
	pin := slices.IndexFunc(o.Pin, func(pattern string) bool { return Matches(pattern, skill) })
	switch {
	case pin >= 0:
		r.level, r.pin = byPerson, pin
	case active[name]:
		r.level = byFiles
	case skill.Pinned:
		r.level = byAuthor
	case r.uses > 0:
		r.level = byUse
	}
	return r
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
