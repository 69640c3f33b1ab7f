package install

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// choose returns the candidates that a request means. The error is a
// [*source.ChoiceError], or a [*source.RefusedError] for one that does not load.
func (f *finding) choose(r source.Request) ([]candidate, error) {
	offered := f.offered()
	switch {
	case len(r.Names) > 0:
		return f.named(r.Names)
	case len(offered) == 0:
		return nil, f.nothing("")
	case r.All, len(offered) == 1:
		return offered, nil
	}
	return nil, &source.ChoiceError{Choices: choices(offered)}
}

// offered returns the candidates that a person chooses among. What has a skill or plugin
// at its root is that, unless it is a marketplace; a pack is all of its skills.
func (f *finding) offered() (all []candidate) {
	for _, c := range f.all {
		if c.plugin == "" && !c.nested {
			all = append(all, c)
		}
	}
	if i := slices.IndexFunc(all, func(c candidate) bool { return c.pack }); i >= 0 {
		return all[i : i+1]
	}
	if f.markets > 0 {
		return all
	}
	// A tree that is a plugin has its skills in it.
	return slices.DeleteFunc(all, func(c candidate) bool {
		return slices.ContainsFunc(f.all, func(other candidate) bool {
			return other.treeDir == c.treeDir && other.dir == "." && (c.dir != "." || other.Kind != c.Kind && other.Kind == "plugin")
		})
	})
}

// named returns the candidates with names: of the skill or plugin, "plugin/skill", of the
// folder, or its path in the source.
func (f *finding) named(names []string) (chosen []candidate, err error) {
	for _, name := range names {
		found := f.called(name)
		switch {
		case len(found) == 0:
			return nil, f.nothing(name)
		case len(found) > 1:
			return nil, &source.RefusedError{Reason: fmt.Sprintf("the source has %d called %q: %s", len(found), name, strings.Join(paths(found), ", ")), Remedy: "choose one by its path"}
		}
		if !slices.ContainsFunc(chosen, func(c candidate) bool { return c.same(found[0]) }) {
			chosen = append(chosen, found[0])
		}
	}
	return chosen, nil
}

// called returns the candidates that a name means best.
func (f *finding) called(name string) []candidate {
	for _, means := range []func(c candidate) bool{
		func(c candidate) bool { return c.Path == name },
		func(c candidate) bool { return c.Name == name && c.plugin == "" && !c.nested },
		func(c candidate) bool { return c.Name == name || c.plugin != "" && c.plugin+"/"+c.Name == name },
		func(c candidate) bool { return path.Base(c.Path) == name },
	} {
		var found []candidate
		for _, c := range f.all {
			if name != "" && means(c) {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func (c candidate) same(other candidate) bool {
	return c.treeDir == other.treeDir && c.dir == other.dir && c.Kind == other.Kind && c.Name == other.Name
}

// nothing returns the error of a source without a skill of a name, or without any.
func (f *finding) nothing(name string) error {
	for _, p := range f.problems {
		if p.Severity == skills.Error && (name == "" || path.Base(path.Dir(p.Path)) == name) {
			return &source.RefusedError{Reason: "it does not load: " + p.Path + ": " + p.Message, Remedy: p.Remedy}
		}
	}
	for link, err := range f.leftOut {
		dir, base := path.Split(link)
		if base == name || strings.EqualFold(base, "SKILL.md") && (name == "" || path.Base(dir) == name) {
			return err
		}
	}
	if name == "" || len(f.all) == 0 {
		return &source.RefusedError{Reason: "there is no skill in it", Remedy: "name a source with a SKILL.md, a plugin or a marketplace"}
	}
	return &source.ChoiceError{Missing: name, Choices: choices(f.all)}
}

func choices(all []candidate) (list []source.Choice) {
	for _, c := range all {
		list = append(list, c.Choice)
	}
	return list
}

func paths(all []candidate) (list []string) {
	for _, c := range all {
		list = append(list, c.Path)
	}
	return list
}
