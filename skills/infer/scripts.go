// Package infer finds the undeclared parts of a skill: the files of its folder that
// are made to be run, their interpreters, and the arguments that their sources take.
// It reads text and runs nothing.
//
// Start with [Find] for the files, and [Arguments] for the arguments of a skill.
// [Interpreter] is the rule for declared scripts, too.
package infer

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// Found is the result of [Find].
type Found struct {
	// Scripts begin with those that the instructions name, in that order; then come
	// those below scripts/, and the rest, by path. There are 16 at most.
	Scripts []Script
	// Rest are the paths of those over the limit, in the same order.
	Rest []string
	// Incomplete reports that the folder has more files than are read.
	Incomplete bool
}

// maxScripts is the maximum number of scripts of one skill.
const maxScripts = 16

// Find returns the entry points of the skill in the folder fsys. Tests, files of
// packages, folders of others' code and skills below this one have none. Find skips a
// file that cannot be read. Sources gets the parsed scripts; nil drops them.
func Find(fsys fs.FS, instructions string, sources *Sources) Found {
	f := newFinder(fsys, instructions)
	f.walk(".", 0)
	f.scripts = slices.DeleteFunc(f.scripts, f.isHelper)
	f.sort()
	found := Found{Scripts: f.scripts[:min(maxScripts, len(f.scripts))], Incomplete: f.incomplete}
	for _, script := range f.scripts[len(found.Scripts):] {
		found.Rest = append(found.Rest, script.Path)
	}
	if sources != nil {
		sources.modules = map[string]module{}
		for _, script := range found.Scripts {
			if m := f.modules[script.Path]; m != nil {
				sources.modules[script.Path] = m
			}
		}
	}
	return found
}

// sort sorts the scripts and names them. The names depend on all scripts, so that no
// limit changes them.
func (f *finder) sort() {
	slices.SortFunc(f.scripts, func(a, b Script) int {
		return cmp.Or(cmp.Compare(f.rank(a), f.rank(b)), strings.Compare(a.Path, b.Path))
	})
	paths := make([]string, len(f.scripts))
	for i, script := range f.scripts {
		paths[i] = script.Path
	}
	for i, name := range Names(paths) {
		f.scripts[i].Name = name
	}
}

// rank returns the place of the first mention, or a number behind all of them.
func (f *finder) rank(script Script) int {
	if at, ok := f.mentions.of(script.Path); ok {
		return at
	}
	if strings.HasPrefix(script.Path, "scripts/") {
		return f.mentions.end
	}
	return f.mentions.end + 1
}
