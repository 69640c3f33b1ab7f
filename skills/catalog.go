package skills

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// A Catalog is the result of one scan. It is not changed once it is published.
type Catalog struct {
	// Skills are the skills that count, sorted by qualified name.
	Skills []*Skill
	// Plugins are sorted by name; of the same name, the first ranks highest.
	Plugins []*Plugin
	// Agents are sorted by qualified name.
	Agents []*Agent
	// Problems are all that were found, those of the skills included, sorted by
	// path, line and column.
	Problems []Problem
	// Shadowed are the skills that did not get their name.
	Shadowed []Shadow
}

// A Shadow is a skill whose name another one has, that ranks above it.
type Shadow struct {
	Skill, By *Skill
}

// A NotFoundError says that no skill has a name, and which ones are close.
type NotFoundError struct {
	Name    string
	Closest []string
	// Ambiguous says that Name could mean each of Closest.
	Ambiguous bool
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Ambiguous:
		return fmt.Sprintf("%q could be %s", e.Name, Enumerate(e.Closest, "or"))
	case len(e.Closest) == 0:
		return fmt.Sprintf("there is no skill %q", e.Name)
	}
	return fmt.Sprintf("there is no skill %q; did you mean %s?", e.Name, Enumerate(e.Closest, "or"))
}

// Count returns the number of skills, without the tools of others.
func (c *Catalog) Count() int {
	n := 0
	for _, s := range c.Skills {
		if s.Of == nil {
			n++
		}
	}
	return n
}

// Lookup returns the skill with a qualified name, or the only one with a bare
// name. A skill of an untrusted workspace is not found by a bare name that another skill
// has, or could be mistaken for. The error is a [*BrokenError] or a [*NotFoundError].
func (c *Catalog) Lookup(name string) (*Skill, error) {
	if i, found := c.Place(name); found {
		return c.Skills[i], nil
	}
	var bare []*Skill
	for _, s := range c.Skills {
		if s.Name == name && s.Prefix == "" {
			bare = append(bare, s)
		}
	}
	if mine := slices.DeleteFunc(slices.Clone(bare), (*Skill).Untrusted); len(mine) > 0 {
		bare = mine
	}
	switch len(bare) {
	case 0:
		if broken := c.broken(name); broken != nil {
			return nil, broken
		}
		return nil, &NotFoundError{Name: name, Closest: c.closest(name)}
	case 1:
		return bare[0], nil
	}
	err := &NotFoundError{Name: name, Ambiguous: true}
	for _, s := range bare {
		err.Closest = append(err.Closest, s.QualifiedName())
	}
	return nil, err
}

// Place returns the index of a qualified name among the catalog's skills, or the
// index at which it would be.
func (c *Catalog) Place(qualified string) (at int, found bool) {
	return slices.BinarySearchFunc(c.Skills, qualified, func(s *Skill, name string) int {
		return cmp.Compare(s.QualifiedName(), name)
	})
}

// maxMeant is the longest name that somebody may have meant another by, in bytes.
// The time to compare two grows with the length of both.
const maxMeant = 256

// closest returns up to three qualified names that someone may have meant.
func (c *Catalog) closest(name string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	if len(name) > maxMeant {
		return nil
	}
	name = strings.ToLower(name)
	for _, s := range c.Skills {
		distance := min(
			levenshtein.Distance(name, strings.ToLower(s.Name), nil),
			levenshtein.Distance(name, strings.ToLower(s.QualifiedName()), nil))
		if name != "" && strings.Contains(strings.ToLower(s.QualifiedName()), name) {
			distance = min(distance, 1)
		}
		if distance <= 1+len(name)/3 {
			near = append(near, candidate{s.QualifiedName(), distance})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, n := range near[:min(3, len(near))] {
		names = append(names, n.name)
	}
	return names
}

// A BrokenError says that there is a skill of a name, and why it does not load.
type BrokenError struct {
	Name    string
	Problem Problem
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("skill %s does not load: %s", e.Name, e.Problem)
}

// Unreadable reports whether the skill's file could not be read, and whether that is
// for want of permission. Otherwise it was read, and is wrong.
func (e *BrokenError) Unreadable() (unreadableFile, denied bool) {
	why, ok := strings.CutPrefix(e.Problem.Message, unreadable)
	return ok, ok && strings.Contains(why, "permission denied")
}

// Broken returns why the file that defined a skill does not load, for one that is
// called name; nil where nothing is wrong with it.
func (c *Catalog) Broken(name, file string) *BrokenError {
	for _, p := range c.Problems {
		if p.Severity == Error && p.Path == file {
			return &BrokenError{name, p}
		}
	}
	return nil
}

// broken finds a skill that does not load by the name of its folder or, for a
// command, of its file: its own name was not read.
func (c *Catalog) broken(name string) *BrokenError {
	for _, p := range c.Problems {
		if p.Severity == Error && defines(filepath.ToSlash(p.Path), name) {
			return &BrokenError{name, p}
		}
	}
	return nil
}

// defines reports whether the file at a path would define a skill of a name, bare or with
// its plugin.
func defines(file, name string) bool {
	plugin, bare, qualified := strings.Cut(name, "/")
	if !qualified {
		plugin, bare = "", name
	}
	folders := strings.Split(path.Dir(file), "/")
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case strings.EqualFold(base, "plugin.json"):
		folders = slices.DeleteFunc(folders, func(f string) bool { return f == ".claude-plugin" })
		return qualified && len(folders) > 0 && folders[len(folders)-1] == plugin
	case !strings.EqualFold(path.Ext(base), ".md"):
		return false
	case !strings.EqualFold(stem, "SKILL"):
		folders = append(folders, stem)
	}
	last := len(folders) - 1
	return folders[last] == bare && (!qualified || slices.Contains(folders[:last], plugin))
}

// Replace returns the catalog with copies in the place of skills; the catalog itself, if
// there are none.
func (c *Catalog) Replace(copies map[*Skill]*Skill) *Catalog {
	if len(copies) == 0 {
		return c
	}
	next := *c
	next.Skills, next.Shadowed = slices.Clone(c.Skills), slices.Clone(c.Shadowed)
	for i, skill := range next.Skills {
		if copied := copies[skill]; copied != nil {
			next.Skills[i] = copied
		}
	}
	for i, shadow := range next.Shadowed {
		if copied := copies[shadow.By]; copied != nil {
			next.Shadowed[i].By = copied
		}
	}
	return &next
}
