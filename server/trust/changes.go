package trust

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Changes describes, in a line each, what changes if an untrusted workspace is trusted: the
// skills that take a name of another skill, then those that ask for more than a safe skill
// gets, then the number of the others. The texts are strangers'.
func Changes(catalog *skills.Catalog, workspace string) []string {
	var takes, asks []string
	others := 0
	for _, skill := range catalog.Skills {
		if skill.Workspace != workspace || skill.Of != nil {
			continue
		}
		name, taken := trustedName(catalog, skill)
		wishes := wishes(skill)
		line := strings.Join(append([]string{name + ": " + class(skill)}, wishes...), "; ")
		switch {
		case taken != nil:
			takes = append(takes, fmt.Sprintf("%s; takes the name of %s", line, taken.File))
		case len(wishes) > 0 || class(skill) != string(skills.Safe) && class(skill) != instructions:
			asks = append(asks, line)
		default:
			others++
		}
	}
	all := append(takes, asks...)
	switch {
	case others == 1:
		all = append(all, "one other skill, which asks for nothing")
	case others > 1:
		all = append(all, fmt.Sprintf("%d other skills, which ask for nothing", others))
	}
	return all
}

// trustedName returns the name that a skill has once its workspace is trusted, and the
// skill that has it now, or nil.
func trustedName(catalog *skills.Catalog, skill *skills.Skill) (name string, taken *skills.Skill) {
	name = strings.TrimPrefix(skill.QualifiedName(), skill.Prefix+"/")
	if at, found := catalog.Place(name); found && catalog.Skills[at] != skill {
		taken = catalog.Skills[at]
	}
	return name, taken
}

// instructions is the class of a skill that has nothing to run, for people.
const instructions = "instructions"

// class returns the highest class of a skill and its tools.
func class(skill *skills.Skill) string {
	order := []string{instructions, string(skills.Safe), string(skills.Mutating), string(skills.Dangerous)}
	highest := 0
	for _, s := range append([]*skills.Skill{skill}, skill.Tools...) {
		if s.Entry != nil {
			highest = max(highest, slices.Index(order, cmp.Or(string(s.Class), string(skills.Safe))))
		}
	}
	return order[highest]
}

// wishes returns what a skill and its tools ask for beside their class.
func wishes(skill *skills.Skill) (all []string) {
	var hosts, variables, asks, calls []string
	for _, s := range append([]*skills.Skill{skill}, skill.Tools...) {
		if s.Entry != nil {
			hosts, variables = append(hosts, s.Entry.Network...), append(variables, s.Entry.Env...)
		}
		variables, calls = append(variables, s.Requires.Env...), append(calls, s.Calls...)
		for _, asked := range s.Asks {
			asks = append(asks, string(asked))
		}
	}
	for _, w := range []struct {
		verb  string
		names []string
	}{{"connects to ", hosts}, {"reads the variables ", variables}, {"asks the ", asks}, {"calls ", calls}} {
		if slices.Sort(w.names); len(w.names) > 0 {
			all = append(all, w.verb+strings.Join(slices.Compact(w.names), ", "))
		}
	}
	return all
}
