// Package activation finds the skills that apply to a workspace: those whose globs
// ([skills.Skill.Paths]) match one of its files.
//
// Start with [Find].
package activation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Options configure [Find]. A nil *Options, and every zero field, means the
// default.
type Options struct {
	Entries int           // bounds the files and folders read of one workspace; 20,000
	Depth   int           // bounds the levels of folders below a workspace; 12
	Time    time.Duration // bounds the whole search; 2 s
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Entries = cmp.Or(c.Entries, 20_000)
	c.Depth = cmp.Or(c.Depth, 12)
	c.Time = cmp.Or(c.Time, 2*time.Second)
	return c
}

// Wanted reports whether any usable skill of the catalog has globs. If none has,
// [Find] finds nothing.
func Wanted(catalog *skills.Catalog) bool {
	return slices.ContainsFunc(catalog.Skills, usable)
}

// Find returns the qualified names of the skills whose globs match a file of one
// of the workspaces, which are absolute host folders. It reads the levels near the
// top first, within the bounds of options; complete is false if a bound ended the
// search, and the skills found until then count. It does not follow links. Options
// may be nil.
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

// finder matches files with the globs of skills.
type finder struct {
	globs  map[string][]string // skills by glob that has matched nothing yet
	skills int                 // number of skills with globs
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

// usable reports whether the workspace's files decide about a skill.
func usable(skill *skills.Skill) bool {
	return len(skill.Paths) > 0 && skill.ModelInvocable && skill.Unavailable == ""
}

// done reports whether all skills are active.
func (f *finder) done() bool { return len(f.active) == f.skills }

// file activates the skills that a file matches. It returns false when all are
// active, or ctx is done.
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
