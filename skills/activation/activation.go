// Package activation finds out which skills the workspace has files for: those
// whose globs ([skills.Skill.Paths]) match one of its files.
//
// Start with [Find].
package activation

import (
	"context"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// How far a workspace is looked through where nobody says otherwise.
const (
	DefaultEntries = 20_000 // files and folders of one workspace
	DefaultDepth   = 12     // folders, one in the other
	DefaultTime    = 2 * time.Second
)

// Options configure [Find]. A nil *Options, and every zero field, means the
// default.
type Options struct {
	// Entries is how many files and folders of one workspace are looked at.
	Entries int
	// Depth is how many folders below a workspace are entered.
	Depth int
	// Time is how long the whole may take.
	Time time.Duration
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	orDefault(&c.Entries, DefaultEntries)
	orDefault(&c.Depth, DefaultDepth)
	orDefault(&c.Time, DefaultTime)
	return c
}

func orDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Wanted reports whether any skill of the catalog says what files it is for.
// Where none does, [Find] has nothing to look for.
func Wanted(catalog *skills.Catalog) bool {
	return slices.ContainsFunc(catalog.Skills, usable)
}

// Find returns the qualified names of the skills that one of the workspaces,
// absolute host folders, has files for. It looks at files near the top first,
// and no further than the options allow: complete is false where it gave up
// before it had seen everything, and what it found until then counts. Links are
// not followed. Options may be nil.
func Find(ctx context.Context, catalog *skills.Catalog, workspaces []string, options *Options) (active map[string]bool, complete bool) {
	o := options.withDefaults()
	f := newFinder(catalog)
	ctx, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	complete = true
	for _, workspace := range workspaces {
		w := &walk{ctx: ctx, files: skillfs.DirFS(workspace), left: o.Entries, depth: o.Depth, visit: f.file}
		if !f.done() && !w.run() {
			complete = false
		}
	}
	return f.active, complete
}

// finder matches files with globs.
type finder struct {
	globs  map[string][]string // skills by glob that has matched nothing yet
	skills int                 // that have globs
	active map[string]bool
}

func newFinder(catalog *skills.Catalog) *finder {
	f := &finder{globs: map[string][]string{}, active: map[string]bool{}}
	for _, skill := range catalog.Skills {
		if !usable(skill) {
			continue
		}
		f.skills++
		for _, glob := range skill.Paths {
			f.globs[glob] = append(f.globs[glob], skill.QualifiedName())
		}
	}
	return f
}

// usable reports whether it matters that there are files for a skill.
func usable(skill *skills.Skill) bool {
	return len(skill.Paths) > 0 && skill.ModelInvocable && skill.Unavailable == ""
}

// done reports whether all skills are active.
func (f *finder) done() bool { return len(f.active) == f.skills }

// file takes down which skills a file is for. It returns false when all are
// known, or ctx is done.
func (f *finder) file(ctx context.Context, name string) (more bool) {
	for glob, names := range f.globs {
		if ctx.Err() != nil {
			return false
		}
		if ok, err := doublestar.Match(glob, name); !ok || err != nil {
			continue
		}
		for _, name := range names {
			f.active[name] = true
		}
		delete(f.globs, glob)
	}
	return !f.done()
}
