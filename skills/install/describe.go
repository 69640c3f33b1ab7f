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

// describe fills in what an item has, as a scan reads it in its place and nothing beside it.
// The folder is called as it will be.
func (item *Item) describe(ctx context.Context, folder string) error {
	above := filepath.Dir(folder)
	catalog, err := scan.Scan(ctx, []scan.Root{{Source: skills.SourceExtra, Dir: above, Only: filepath.Base(folder), Plugins: item.State.Kind == lock.Plugin}}, nil)
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
	if item.parts, err = partsOf(catalog, filepath.Join(above, filepath.Base(folder)), item.State); err != nil {
		return err
	}
	item.Surface = merged(item.parts).Items
	if item.locked == nil {
		item.State.Surface = item.Surface
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

// compare fills in the difference to the installed version: to its files, by the same
// rules, or if somebody has edited them to the surface of the lock. The lock of a project
// may be a stranger's and proves no consent.
func (item *Item) compare(ctx context.Context, target Target, staged string) error {
	was := item.Replaces
	if was == nil {
		return nil
	}
	found, err := differences(ctx, target, item.Path, was)
	if err != nil {
		return err
	}
	if item.Diff, err = surface.Diff(skillfs.Sub(skillfs.DirFS(target.Dir), item.Path), skillfs.DirFS(staged), merged(item.parts).Entries); err != nil {
		item.Diff = "… the installed files cannot be read, so there is nothing to compare with\n"
	}
	old := &Item{State: &lock.State{Name: was.Name, Kind: was.Kind}}
	now, before := item.parts, []part(nil)
	switch {
	case len(found) == 1 && found[0].File == "" && found[0].Kind == Missing: // nobody has accepted the lock's items
	case len(found) > 0 && !target.Project, slices.ContainsFunc(found, func(d Difference) bool { return d.File == "" }), old.describe(ctx, target.host(item.Path)) != nil:
		now, before = []part{{dir: ".", Surface: merged(now)}}, []part{{dir: ".", Surface: &surface.Surface{}}}
		if !target.Project {
			before[0].Items = was.Surface
		}
	default:
		before = old.parts
	}
	item.Edited = slices.DeleteFunc(found, func(d Difference) bool { return d.Kind == Missing })
	item.Gained, item.Lost = changes(now, before)
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
