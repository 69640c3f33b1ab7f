// Package infer finds what nobody declared of a skill: the files of its folder that
// are made to be run, their interpreters, and the arguments that their sources take.
// It reads text and runs nothing.
//
// Start with [Find] for the files, and [Arguments] for the arguments of a skill.
// [Interpreter] is the rule for scripts that are declared, too.
package infer

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python"
)

// A Kind is a language whose scripts are understood further.
type Kind string

// The kinds; "" is any other language.
const (
	Bash   Kind = "bash" // and sh, dash, ash
	Python Kind = "python"
	Node   Kind = "node"
)

// A Script is an entry point: a file with a first line "#!…" or a main guard, or
// one that the instructions run, and that does more than define names for others.
type Script struct {
	// Path is slash-separated, in the skill's folder.
	Path string
	// Name is a name for a tool: of [a-z0-9_-], and no other script's of the
	// skill.
	Name string
	Kind Kind
	// Interpreter is the command that the script is passed to.
	Interpreter []string
	// Doc is the module docstring or the comment at the top, without what is
	// not meant for readers; "" where there is none. It is at most 2 KiB.
	Doc string
	// Named says that the skill's instructions name the script.
	Named bool
	// Prompts says that the script seems to ask somebody for input, which
	// nobody answers in a sandbox.
	Prompts bool
}

// Found is what [Find] found.
type Found struct {
	// Scripts come with those first that the instructions name, in that order;
	// then those below scripts/ and the rest, by path.
	Scripts []Script
	// Rest are the paths of those that are over the limit, in the same order.
	Rest []string
	// Incomplete says that the folder has more files than are looked at.
	Incomplete bool
}

// DefaultLimit is how many scripts of one skill are taken where nobody says
// otherwise.
const DefaultLimit = 16

// Options configure [Find]. The zero value is usable.
type Options struct {
	// Limit is how many scripts are returned; 0 is [DefaultLimit].
	Limit int
	// Sources gets the sources of the scripts that are returned; nil keeps none.
	Sources *Sources
}

// Sources are scripts of one skill that [Find] read, so that [Arguments] neither
// reads nor parses them again. The zero value is empty. They are not safe for
// concurrent use.
type Sources struct{ modules map[string]*python.Module } // by path

// take removes the module of a path and returns it, or nil: a module's arguments are
// read once.
func (s *Sources) take(path string) *python.Module {
	if s == nil {
		return nil
	}
	module := s.modules[path]
	delete(s.modules, path)
	return module
}

// Find returns the entry points of the skill whose folder is fsys. Tests,
// packages' own files and folders of others' code are none, nor is anything in
// a skill below this one. A file that cannot be read is passed over. Options may
// be nil.
func Find(fsys fs.FS, instructions string, options *Options) Found {
	var o Options
	if options != nil {
		o = *options
	}
	f := &finder{fsys: fsys, mentions: findMentions(instructions), runs: findMentions(findRuns(instructions)), used: map[string]bool{}, alone: map[string]bool{}, modules: map[string]*python.Module{}, bytes: maxBytes}
	f.walk(".", 0)
	f.scripts = slices.DeleteFunc(f.scripts, f.isHelper)
	all := f.sorted()
	found := Found{Incomplete: f.incomplete}
	limit := min(cmp.Or(o.Limit, DefaultLimit), len(all))
	for _, script := range all[limit:] {
		found.Rest = append(found.Rest, script.Path)
	}
	found.Scripts = all[:limit]
	if o.Sources != nil {
		o.Sources.modules = map[string]*python.Module{}
		for _, script := range found.Scripts {
			if module := f.modules[script.Path]; module != nil {
				o.Sources.modules[script.Path] = module
			}
		}
	}
	return found
}

// sorted returns the scripts in their order, with names. The names are made of
// all scripts, so that no limit changes them.
func (f *finder) sorted() []Script {
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
	return f.scripts
}

// rank is the place of the first mention, or a number behind all of them.
func (f *finder) rank(script Script) int {
	if at, ok := f.mentions.of(script.Path); ok {
		return at
	}
	if strings.HasPrefix(script.Path, "scripts/") {
		return f.mentions.end
	}
	return f.mentions.end + 1
}

// skipFile reports whether a file of this name is no entry point, whatever is
// in it.
func skipFile(name string) bool {
	switch name {
	case "conftest.py", "__init__.py":
		return true
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.HasPrefix(name, ".") || strings.HasSuffix(stem, ".d") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec")
}

// isTest reports whether a file of this name is a test, unless the instructions
// run it: "ab_test.py" may be about statistics.
func isTest(name string) bool {
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.HasPrefix(name, "test_") || strings.HasPrefix(name, "test-") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "-test")
}

// skipDir reports whether a folder of this name has no entry points of the
// skill.
func skipDir(name string) bool {
	switch name {
	case "test", "tests", "__tests__", "testdata", "test-data", "test_data", "fixture", "fixtures", "__fixtures__", "__mocks__", "test-fixtures", "test_fixtures",
		"node_modules", "site-packages", "venv", "vendor", "third_party", "__pycache__":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// mayBeScript reports whether the extension is one of scripts. Files of other
// kinds are not opened.
func mayBeScript(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case "", ".py", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".r", ".awk", ".tcl":
		return true
	}
	return false
}
