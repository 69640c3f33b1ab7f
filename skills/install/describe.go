package install

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// describe fills in what an item has, as a scan reads it in its place. The folder is
// called as it will be.
func (item *Item) describe(ctx context.Context, folder string) error {
	above := filepath.Dir(folder)
	catalog, err := scan.Scan(ctx, []scan.Root{{Source: skills.SourceExtra, Dir: above, Plugins: item.State.Kind == lock.Plugin}}, nil)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(above); err == nil {
		above = real
	}
	for _, p := range catalog.Problems {
		if rel, err := filepath.Rel(above, p.Path); err == nil && filepath.IsLocal(rel) {
			p.Path = filepath.ToSlash(rel)
		}
		item.Problems = append(item.Problems, p)
	}
	item.Skills = catalog.Skills
	if err := item.refuse(catalog); err != nil {
		return err
	}
	if item.State.Files, err = lock.Files(ctx, skillfs.DirFS(folder)); err != nil {
		return err
	}
	if item.State.Digest, err = snapshot.Digest(ctx, skillfs.DirFS(folder)); err != nil {
		return err
	}
	if err := item.matches(); err != nil {
		return err
	}
	now, err := surfaceOf(catalog, folder, item.State)
	if err != nil {
		return err
	}
	item.Surface, item.texts = now.Items, now
	if item.locked == nil {
		item.State.Surface = now.Items
	}
	return nil
}

// matches returns an error if the item is not the locked one, and else makes its state the
// locked one: with its time, and the source as it was written. An adopted entry may have
// no revision; then its files decide.
func (item *Item) matches() error {
	want, is := item.locked, item.State
	switch {
	case want == nil:
		return nil
	case revisionOf(want) != "" && revisionOf(want) != revisionOf(is):
		return &EntryError{[]string{item.Path}, fmt.Errorf("the source has the revision %q, and the lock says %q; run update, or restore the lock", revisionOf(is), revisionOf(want))}
	case want.Digest != is.Digest || len(compareFiles(item.Path, want.Files, is.Files)) > 0:
		cause := "somebody has changed them: ask the author, then run update"
		if len(want.Unproved) > 0 {
			cause = "it was adopted without a proof of " + strings.Join(want.Unproved, ", nor of ") + "; run update"
		}
		return &EntryError{[]string{item.Path}, fmt.Errorf("the files at revision %q have the digest %s, and the lock says %s; %s", is.Revision, is.Digest, want.Digest, cause)}
	}
	same := *want
	item.State = &same
	return nil
}

// revisionOf returns the revision of the place that has the files of a version.
func revisionOf(s *lock.State) string {
	if s.Origin != nil {
		return s.Origin.Revision
	}
	return s.Revision
}

// refuse returns an error for an item of which nothing loads.
func (item *Item) refuse(catalog *skills.Catalog) error {
	if len(catalog.Skills) > 0 || len(catalog.Plugins) > 0 && item.State.Kind == lock.Plugin {
		return nil
	}
	for _, p := range item.Problems {
		if p.Severity == skills.Error {
			return &source.RefusedError{Reason: "it does not load: " + p.Path + ": " + p.Message, Remedy: p.Remedy}
		}
	}
	return &source.RefusedError{Reason: "there is no " + item.State.Kind + " in " + item.State.Name, Remedy: "ask its author for a SKILL.md"}
}

// surfaceOf returns the surface of all skills in a folder, and of the folder itself if it
// is a plugin's: hooks and servers lie outside of skills.
func surfaceOf(catalog *skills.Catalog, folder string, state *lock.State) (*surface.Surface, error) {
	merged := &surface.Surface{Version: surface.Version}
	add := func(skill *skills.Skill, dir string) error {
		s, err := surface.Of(skill, skillfs.DirFS(dir))
		if err == nil {
			merge(merged, s)
		}
		return err
	}
	for _, s := range catalog.Skills {
		if s.Of == nil && s.Dir != "" {
			if err := add(s, s.Dir); err != nil {
				return nil, err
			}
		}
	}
	if state.Kind == lock.Plugin && len(catalog.Plugins) > 0 {
		p := catalog.Plugins[0]
		whole := &skills.Skill{Name: p.Name, Description: p.Description, Dir: folder, File: p.File, Files: skillfs.DirFS(folder)}
		if err := add(whole, folder); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

// merge adds the items and texts of a surface that another one lacks.
func merge(to, from *surface.Surface) {
	type key struct{ kind, value, digest string }
	has := map[key]bool{}
	for _, i := range to.Items {
		has[key{string(i.Kind), i.Value, i.Digest}] = true
	}
	for _, i := range from.Items {
		if k := (key{string(i.Kind), i.Value, i.Digest}); !has[k] {
			has[k] = true
			to.Items = append(to.Items, i)
		}
	}
	for _, t := range from.Texts {
		if !slices.ContainsFunc(to.Texts, func(other surface.Text) bool { return other.Name == t.Name && other.Digest == t.Digest }) {
			to.Texts = append(to.Texts, t)
		}
	}
}

// compare fills in the difference to the installed version: to its files, by the same
// rules, or if somebody has edited them to the surface of the lock. The lock of a project
// may be a stranger's and proves no consent.
func (item *Item) compare(ctx context.Context, target Target) error {
	was := item.Replaces
	if was == nil {
		return nil
	}
	found, err := differences(ctx, target, item.Path, was)
	if err != nil {
		return err
	}
	before := &surface.Surface{Version: surface.Version}
	if !target.Project {
		before.Items = was.Surface
	}
	old := &Item{State: &lock.State{Name: was.Name, Kind: was.Kind}}
	switch {
	case len(found) == 1 && found[0].File == "" && found[0].Kind == Missing:
		before.Items = nil // nobody has accepted the lock's items
	case !slices.ContainsFunc(found, func(d Difference) bool { return d.File == "" }) && old.describe(ctx, target.host(item.Path)) == nil:
		before.Texts = old.texts.Texts
		if len(found) == 0 || target.Project {
			before.Items = old.Surface
		}
	}
	item.Edited = slices.DeleteFunc(found, func(d Difference) bool { return d.Kind == Missing })
	for _, c := range item.texts.Diff(before) {
		if c.Gone {
			item.Lost = append(item.Lost, c)
		} else {
			item.Gained = append(item.Gained, c)
		}
	}
	item.Texts = item.texts.TextDiff(before)
	return nil
}

// folderName returns the name of an installed folder: that of the skill, where every
// system and client takes it.
func folderName(name, fallback string) (string, error) {
	for _, n := range []string{name, fallback} {
		if normal := check.Normalize(n); normal != "" {
			return normal, nil
		}
	}
	return "", &source.RefusedError{Reason: "the name " + strings.ToValidUTF8(name, "?") + " is none for a folder", Remedy: "ask its author for one of a-z, 0-9 and hyphens"}
}
