package install

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A stager copies skills and plugins from fetched trees to a second quarantine, each into
// a folder of its own, so that none needs a file of another. Limits count the copies.
type stager struct {
	ctx    context.Context
	folder *quarantine.Folder
	kind   source.Kind
	left   leftOut // of the tree
}

// stage copies a candidate to a path of the quarantine.
func (s *stager) stage(c candidate, to string) error {
	tree, err := skillfs.DirFS(c.treeDir).Hold()
	if err != nil {
		return err
	}
	defer tree.Close()
	s.left = c.leftOut
	skip := map[string]bool{}
	if s.kind == source.ClawHub {
		skip[clawhubMeta] = true
	}
	if c.market != nil {
		if name, content := c.market.Supplement(skillfs.Sub(tree, c.dir)); name != "" {
			skip[name] = true
			if err := s.folder.Create(path.Join(to, name), false, bytes.NewReader(content)); err != nil {
				return err
			}
		}
	}
	return s.copyFolder(tree, c.dir, to, skip)
}

// clawhubMeta is the file that ClawHub adds to a download.
const clawhubMeta = "_meta.json"

// copyFolder copies a folder of a tree, but for some of its files.
func (s *stager) copyFolder(tree skillfs.Dir, dir, to string, skip map[string]bool) error {
	if err := s.left.in(dir); err != nil {
		return err
	}
	return fs.WalkDir(tree, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case s.ctx.Err() != nil:
			return context.Cause(s.ctx)
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		rel := name
		if dir != "." {
			rel = strings.TrimPrefix(name, dir+"/")
		}
		if skip[rel] {
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			return s.copyLink(tree, dir, name, path.Join(to, rel))
		}
		return s.copyFile(tree, name, path.Join(to, rel))
	})
}

// copyLink copies a link that stays in the folder dir of the tree as it is, and what any
// other leads to in its place.
func (s *stager) copyLink(tree skillfs.Dir, dir, name, to string) error {
	target, err := tree.ReadLink(name)
	if err != nil {
		return err
	}
	real, err := skillfs.Resolve(tree, "", name)
	if err != nil {
		return &quarantine.Error{Name: name, Message: "the link leads out of the source, or to nothing", Remedy: "put the file in its place"}
	}
	if target = filepath.ToSlash(target); in(real, dir) && !crosses(path.Dir(name), target, dir) {
		return s.folder.Link(to, target)
	}
	info, err := fs.Stat(tree, real)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return s.copyFolder(tree, real, to, nil)
	}
	return s.copyFile(tree, real, to)
}

// crosses reports whether a target leaves a folder on its way, if only to come back: the
// folder may have another name once it is installed.
func crosses(at, target, dir string) bool {
	for part := range strings.SplitSeq(target, "/") {
		if at = path.Join(at, part); !in(at, dir) {
			return true
		}
	}
	return false
}

func (s *stager) copyFile(tree skillfs.Dir, name, to string) error {
	file, err := skillfs.OpenRegular(tree, name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return s.folder.Create(to, info.Mode()&0o111 != 0, file)
}

// sourceName returns the name of a source without one of its own: the last part of its
// location.
func sourceName(s source.Source) string {
	for _, text := range []string{s.Path, s.Name, s.Location} {
		name := path.Base(strings.TrimRight(filepath.ToSlash(text), "/"))
		for _, ending := range []string{".git", ".zip", ".skill", ".tgz", ".gz", ".tar"} {
			name = strings.TrimSuffix(name, ending)
		}
		if text != "" && name != "." && name != "/" {
			return name
		}
	}
	return "skills"
}
