package live

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// follow rescans what the watcher reports until ctx is done. A client need not
// wait for the watcher: what changed between the first scan and the watch is found
// by checking all files once more.
func (r *Reloader) follow(ctx context.Context) {
	watcher, err := r.options.Watch()
	if err != nil {
		r.options.Logger.Warn("changes to skills are not noticed; call reload_skills after one", "error", err)
		return
	}
	defer watcher.Close()
	if r.changed(ctx, r.scanner.Recheck) != nil {
		return
	}
	if r.options.Idle != nil {
		r.options.Idle()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case change := <-watcher.Changes():
			r.forget(change.Paths)
			if r.changed(ctx, r.rescan(change.Paths)) != nil {
				return
			}
		}
	}
}

// changed reloads and logs. Its error is that ctx is done.
func (r *Reloader) changed(ctx context.Context, scan func(context.Context) (*skills.Catalog, error)) error {
	before := r.published.Load()
	catalog, changed, err := r.reload(ctx, scan)
	if err == nil && catalog != before {
		r.options.Logger.Info("skills were read again", "skills", catalog.Count(), "tools_changed", changed)
	}
	return err
}

// forget discards the sandboxes that wait for skills with files among paths.
func (r *Reloader) forget(paths []string) {
	if r.options.Runner == nil {
		return
	}
	for _, name := range touched(r.published.Load(), paths) {
		r.options.Runner.Forget(name)
	}
}

// touched returns the qualified names of the skills that have files among paths.
func touched(catalog *skills.Catalog, paths []string) []string {
	var names []string
	for _, skill := range catalog.Skills {
		if slices.ContainsFunc(paths, func(path string) bool { return touches(path, skill) }) {
			names = append(names, skill.QualifiedName())
		}
	}
	return names
}

// touches reports whether path is a file of the skill, or has some below it.
func touches(path string, skill *skills.Skill) bool {
	if skill.Dir == "" { // packed: its file is below the package
		return below(path, skill.File)
	}
	return below(skill.Dir, path) || below(path, skill.Dir)
}

// below reports whether name is dir or below it. Both are clean absolute paths.
// It is cheaper than filepath.Rel: one change asks it of each skill.
func below(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}
