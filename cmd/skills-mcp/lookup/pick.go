// Package lookup finds the skill that a person means by a name, a source or a path. Start with
// [Skill].
package lookup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Skill returns the skill that a person calls name, with the catalog that it counts
// in. Beside the names that clients know it may be SOURCE:NAME, or the path of the
// skill's folder or file: so each is found, those that another hides included,
// which are alone in a catalog of their own. The error is of usage.
func Skill(catalog *skills.Catalog, name string, gate *requirements.Checker) (*skills.Skill, *skills.Catalog, error) {
	found := named(catalog, name)
	switch len(found) {
	case 0:
		skill, err := server.Lookup(catalog, name)
		if _, broken := errors.AsType[*skills.BrokenError](err); broken {
			return nil, nil, err
		}
		return skill, catalog, exitcode.Usage(err)
	case 1:
		skill, own := alone(catalog, found[0], gate)
		return skill, own, nil
	}
	return nil, nil, exitcode.Usage(ambiguous(catalog, name, found))
}

// alone returns a skill with its catalog: a new one if another skill has its name.
func alone(catalog *skills.Catalog, skill *skills.Skill, gate *requirements.Checker) (*skills.Skill, *skills.Catalog) {
	if at, found := catalog.Place(skill.QualifiedName()); found && catalog.Skills[at] == skill {
		return skill, catalog
	}
	own := gate.Apply(&skills.Catalog{Skills: withTools(skill.Owner())})
	at, _ := own.Place(skill.QualifiedName()) // it is there
	return own.Skills[at], own
}

func withTools(skill *skills.Skill) []*skills.Skill {
	all := append([]*skills.Skill{skill}, skill.Tools...)
	slices.SortFunc(all, func(a, b *skills.Skill) int { return strings.Compare(a.QualifiedName(), b.QualifiedName()) })
	return all
}

// all returns every skill of a catalog, shadowed ones and their tools included.
func all(catalog *skills.Catalog) []*skills.Skill {
	found := slices.Clone(catalog.Skills)
	for _, shadow := range catalog.Shadowed {
		found = append(found, shadow.Skill)
		found = append(found, shadow.Skill.Tools...)
	}
	return found
}

// cutSource splits SOURCE:NAME.
func cutSource(name string) (source skills.Source, rest string, ok bool) {
	before, rest, ok := strings.Cut(name, ":")
	source = skills.Source(before)
	return source, rest, ok && slices.Contains(skills.Sources(), source)
}

// named returns the skills that SOURCE:NAME or a path means; none for another
// kind of name.
func named(catalog *skills.Catalog, name string) []*skills.Skill {
	if source, rest, ok := cutSource(name); ok {
		of := slices.DeleteFunc(all(catalog), func(s *skills.Skill) bool {
			return s.Source != source || s.QualifiedName() != rest && s.Name != rest
		})
		exact := slices.DeleteFunc(slices.Clone(of), func(s *skills.Skill) bool { return s.QualifiedName() != rest })
		if len(exact) > 0 {
			return exact
		}
		return of
	}
	if at := slices.IndexFunc(all(catalog), func(s *skills.Skill) bool { return s.File == name }); at >= 0 {
		return all(catalog)[at : at+1]
	}
	if !filepath.IsAbs(name) && !strings.HasPrefix(name, ".") {
		return nil
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	path = skillfs.Resolved(path)
	var of []*skills.Skill
	for _, s := range all(catalog) {
		if s.Of == nil && (s.File == path || s.Dir == path && !s.Command) {
			return []*skills.Skill{s}
		}
		if s.Entry != nil && s.Dir != "" && filepath.Join(s.Dir, s.Entry.Script) == path {
			of = append(of, s)
		}
	}
	return of
}

// ambiguous returns an error with an unambiguous name for each of several skills.
func ambiguous(catalog *skills.Catalog, name string, found []*skills.Skill) error {
	var ways []string
	for _, s := range found {
		ways = append(ways, "  "+plain.Visible(wayTo(catalog, s))+"  ("+plain.Visible(s.File)+")")
	}
	slices.Sort(ways)
	return errors.New(fmt.Sprintf("%q does not say which skill is meant; name it as:\n", name) + strings.Join(slices.Compact(ways), "\n"))
}

// wayTo returns a name that means this skill and no other.
func wayTo(catalog *skills.Catalog, skill *skills.Skill) string {
	name := string(skill.Source) + ":" + skill.QualifiedName()
	switch {
	case len(named(catalog, name)) == 1:
		return name
	case skill.Of != nil && skill.Entry != nil && skill.Dir != "":
		return filepath.Join(skill.Dir, skill.Entry.Script)
	}
	return skill.File
}
