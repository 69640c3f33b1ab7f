package skills

import (
	"fmt"
	"slices"
	"strings"
)

// A Place is where a skill runs, or where its instructions are followed, as far
// as that is known.
type Place struct {
	// OS is its system, as of GOOS.
	OS string
	// Name names it for people: "the sandbox", "this machine".
	Name string
	// Programs names what its programs are in, such as `image "default"`.
	Programs string
	// Has reports whether a program is there; nil where that is not known.
	Has func(program string) bool
	// Env reports whether an environment variable is set.
	Env func(name string) bool
	// EnvRemedy returns the remedy for variables that are not set; nil has none.
	EnvRemedy func(names []string) string
	// Config and Capability report whether its skills have them.
	Config, Capability func(name string) bool
	// Remedy says what to do for a program that is not there.
	Remedy string
}

// Lacks says what of the requirements is not met at a place, such as
// `needs jq in image "default"`, and what to do about it. It returns "" where
// nothing is known to be missing.
func (r Requires) Lacks(at Place) (reason, remedy string) {
	var reasons, remedies []string
	add := func(remedy, format string, args ...any) {
		reasons = append(reasons, fmt.Sprintf(format, args...))
		if remedy != "" && !slices.Contains(remedies, remedy) {
			remedies = append(remedies, remedy)
		}
	}
	if len(r.OS) > 0 && !slices.Contains(r.OS, at.OS) {
		add("", "needs %s, and %s is %s", Enumerate(r.OS, "or"), at.Name, at.OS)
	}
	if at.Has != nil {
		if gone := missing(r.Bins, at.Has); len(gone) > 0 {
			add(at.Remedy, "needs %s in %s", Enumerate(gone, "and"), at.Programs)
		}
		if len(r.AnyBins) > 0 && len(missing(r.AnyBins, at.Has)) == len(r.AnyBins) {
			add(at.Remedy, "needs %s in %s", Enumerate(r.AnyBins, "or"), at.Programs)
		}
	}
	if gone := missing(r.Env, at.Env); len(gone) > 0 {
		remedy := ""
		if at.EnvRemedy != nil {
			remedy = at.EnvRemedy(gone)
		}
		add(remedy, "needs %s in the environment of %s", Enumerate(gone, "and"), at.Name)
	}
	if gone := missing(r.Config, at.Config); len(gone) > 0 {
		add("name it in provides.config, if it is so", "needs %s in its agent's configuration", Enumerate(gone, "and"))
	}
	if gone := missing(r.Capabilities, at.Capability); len(gone) > 0 {
		add("name it in provides.capabilities, if it is so", "needs the capability %s", Enumerate(gone, "and"))
	}
	return strings.Join(reasons, "; "), strings.Join(remedies, "; ")
}

// Needs is what the skill requires, and the interpreter of its script.
func (s *Skill) Needs() Requires {
	needs := s.Requires
	if s.Entry != nil && len(s.Entry.Interpreter) > 0 && !slices.Contains(needs.Bins, s.Entry.Interpreter[0]) {
		needs.Bins = append(slices.Clone(needs.Bins), s.Entry.Interpreter[0])
	}
	return needs
}

// missing returns those that has does not know; a nil has knows none.
func missing(names []string, has func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return has != nil && has(name) })
}

// Gated returns the catalog in which skills whose requirements are not met where
// they would run are unavailable, with the reason. The catalog itself stays as
// it is, and is returned where that changes nothing.
func (c *Catalog) Gated(where func(*Skill) Place) *Catalog {
	by := map[*Skill]*Skill{}
	for _, s := range c.Skills {
		if copied := s.gated(where); copied != nil {
			by[s] = copied
		}
	}
	relink(by)
	next := slices.Clone(c.Skills)
	for i, s := range next {
		if other, ok := by[s]; ok {
			next[i] = other
		}
	}
	return c.with(next)
}

// gated returns a copy of the skill that is unavailable, or nil where nothing is
// missing.
func (s *Skill) gated(where func(*Skill) Place) *Skill {
	needs := s.Needs()
	if needs.Empty() || s.Unavailable != "" {
		return nil
	}
	reason, remedy := needs.Lacks(where(s))
	if reason == "" {
		return nil
	}
	copied := *s
	copied.Unavailable = reason
	copied.Problems = append(slices.Clone(s.Problems), Problem{Severity: Warning, Path: s.File, Message: "it is not available here: " + reason, Remedy: remedy})
	return &copied
}

// relink makes copies of skills and of their tools know each other, and not the
// skills that they were made from.
func relink(by map[*Skill]*Skill) {
	owners := map[*Skill]bool{}
	for s := range by {
		if owner := s.Owner(); len(owner.Tools) > 0 {
			owners[owner] = true
		}
	}
	for old := range owners {
		owner := copied(by, old)
		owner.Tools = make([]*Skill, len(old.Tools))
		for i, tool := range old.Tools {
			owner.Tools[i] = copied(by, tool)
			owner.Tools[i].Of = owner
		}
	}
}

// copied returns the copy of s, which is made where there is none.
func copied(by map[*Skill]*Skill, s *Skill) *Skill {
	if by[s] == nil {
		next := *s
		by[s] = &next
	}
	return by[s]
}

// with is the catalog with other skills in the places of its own, and the problems
// that they have beyond those. It is the catalog itself where they are its own.
func (c *Catalog) with(others []*Skill) *Catalog {
	if slices.Equal(others, c.Skills) {
		return c
	}
	next := *c
	next.Skills = others
	var problems []Problem
	for i, s := range c.Skills {
		if other := others[i]; other != s {
			problems = append(problems, other.Problems[len(s.Problems):]...)
		}
	}
	next.Problems = merge(c.Problems, inOrder(problems))
	next.Shadowed = slices.Clone(c.Shadowed)
	for i, shadow := range next.Shadowed {
		if at := slices.Index(c.Skills, shadow.By); at >= 0 {
			next.Shadowed[i].By = others[at]
		}
	}
	return &next
}
