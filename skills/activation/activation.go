// Package activation finds the skills that apply to a workspace: those whose globs
// ([skills.Skill.Paths]) match one of its files.
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

// bounds limit a search.
type bounds struct {
	entries int           // files and folders read of one workspace
	depth   int           // levels of folders below a workspace
	time    time.Duration // of the whole search
}

// Wanted reports whether any usable skill of the catalog has globs. If none has,
// [Find] finds nothing.
func Wanted(catalog *skills.Catalog) bool {
	return slices.ContainsFunc(catalog.Skills, usable)
}

// Find returns the qualified names of the skills whose globs match a file of one
// of the workspaces, which are absolute host folders. It reads the levels near the
// top first, 20,000 files and folders of each workspace, 12 levels deep, for 2 s;
// complete is false if a bound ended the search, and the skills found until then
// count. It does not follow links.
func Find(ctx context.Context, catalog *skills.Catalog, workspaces []string) (active map[string]bool, complete bool) {
	return find(ctx, catalog, workspaces, bounds{20_000, 12, 2 * time.Second})
}

func find(ctx context.Context, catalog *skills.Catalog, workspaces []string, b bounds) (active map[string]bool, complete bool) {
	f := newFinder(catalog)
	ctx, cancel := context.WithTimeout(ctx, b.time)
	defer cancel()
	complete = true
	for _, workspace := range workspaces {
		w := &walk{ctx: ctx, files: skillfs.DirFS(workspace), left: b.entries, depth: b.depth, visit: f.file}
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
