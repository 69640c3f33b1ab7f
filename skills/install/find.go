package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/marketplace"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A candidate is a skill or plugin in a fetched tree, or a plugin that a marketplace there
// lists.
type candidate struct {
	source.Choice // Path is in the source
	tree          source.Tree
	treeDir       string // absolute host path
	leftOut       leftOut
	dir           string // slash-separated in the tree; "." is all of it
	plugin        string // the plugin that the skill belongs to, or ""
	nested        bool   // it lies in another skill
	pack          bool   // it is a whole tree of several skills
	// market is the entry of the marketplace, or nil; the plugin is fetched from its
	// Source if it has no Folder.
	market *marketplace.Entry
}

// A finding lists the skills and plugins in the trees of a fetch.
type finding struct {
	all      []candidate
	markets  int // trees with a marketplace
	problems []skills.Problem
	leftOut  leftOut // of all trees
}

// find looks for skills, plugins and marketplaces in the trees of a quarantine, with the
// code that loads them later.
func find(ctx context.Context, q *quarantine.Folder, fetched *source.Fetched, name string) (*finding, error) {
	f := &finding{leftOut: q.LeftOut()}
	for _, tree := range fetched.Trees {
		t := treeFinder{finding: f, tree: tree, dir: filepath.Join(q.Path(), filepath.FromSlash(tree.Path))}
		t.descend()
		t.name = cmp.Or(tree.Name, name)
		t.links = f.leftOut.below(q.Path(), t.dir)
		if err := t.find(ctx); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// A treeFinder looks at one tree.
type treeFinder struct {
	*finding
	tree  source.Tree
	dir   string  // absolute host path
	name  string  // of a pack
	links leftOut // in dir
}

// descend enters the only folder of a tree that has nothing else: archives are made so.
func (t *treeFinder) descend() {
	entries, err := fs.ReadDir(skillfs.DirFS(t.dir), ".")
	if err != nil || len(entries) != 1 || !entries[0].IsDir() || strings.HasPrefix(entries[0].Name(), ".") || entries[0].Name() == "skills" {
		return
	}
	t.dir = filepath.Join(t.dir, entries[0].Name())
	t.tree.In = path.Join(t.tree.In, entries[0].Name())
}

func (t *treeFinder) find(ctx context.Context) error {
	market, err := marketplace.Read(skillfs.DirFS(t.dir))
	switch {
	case err == nil:
		t.markets++
		t.market(market)
	case !errors.Is(err, fs.ErrNotExist):
		t.problems = append(t.problems, manifest.ProblemOf(marketplace.File, err))
	}
	catalog, err := scan.Scan(ctx, []scan.Root{
		{Source: skills.SourceExtra, Dir: t.dir, Plugins: true},
		{Source: skills.SourceExtra, Dir: t.dir},
	}, nil)
	if err != nil {
		return err
	}
	t.plugins(catalog)
	t.skills(catalog)
	for _, p := range catalog.Problems {
		p.Path = t.inSource(t.below(p.Path))
		t.problems = append(t.problems, p)
	}
	return nil
}

// below returns the slash-separated path in the tree of a host path; "." if it is not in it.
func (t *treeFinder) below(host string) string {
	real, err := filepath.EvalSymlinks(t.dir)
	if err != nil {
		real = t.dir
	}
	rel, err := filepath.Rel(real, host)
	if err != nil || !filepath.IsLocal(rel) {
		return "."
	}
	return filepath.ToSlash(rel)
}

func (t *treeFinder) inSource(name string) string {
	return strings.TrimPrefix(path.Join(t.tree.In, name), "./")
}

func (t *treeFinder) add(c candidate) {
	c.tree, c.treeDir, c.leftOut = t.tree, t.dir, t.links
	if c.Path = t.inSource(c.dir); c.Path == "." {
		c.Path = ""
	}
	t.all = append(t.all, c)
}

// market adds the plugins that a marketplace lists.
func (t *treeFinder) market(m *marketplace.Marketplace) {
	t.problems = append(t.problems, m.Problems...)
	for _, e := range m.Entries {
		t.add(candidate{Choice: source.Choice{Name: e.Name, Kind: lock.Plugin, Description: e.Description}, dir: e.Folder, market: &e})
	}
}

// plugins adds the plugins that no marketplace lists.
func (t *treeFinder) plugins(catalog *skills.Catalog) {
	for _, p := range catalog.Plugins {
		dir := t.below(p.Dir)
		if p.Marketplace != "" || slices.ContainsFunc(t.all, func(c candidate) bool { return c.treeDir == t.dir && c.Kind == lock.Plugin && c.dir == dir }) {
			continue
		}
		t.add(candidate{Choice: source.Choice{Name: p.Name, Kind: lock.Plugin, Description: p.Description}, dir: dir})
	}
}

// skills adds the skills, also those of plugins and in other skills, which are installed
// alone if somebody asks for them by name. Several skills of ongrid's are a pack, because
// they may share programs.
func (t *treeFinder) skills(catalog *skills.Catalog) {
	found := slices.Clone(catalog.Skills)
	for _, s := range catalog.Shadowed {
		found = append(found, s.Skill)
	}
	alone, ongrid := 0, 0
	var dirs []string
	for _, s := range found {
		if s.Of != nil || s.Command || s.Dir == "" || slices.Contains(dirs, s.Dir) {
			continue
		}
		dirs = append(dirs, s.Dir)
		c := candidate{Choice: source.Choice{Name: s.Name, Kind: lock.Skill, Description: s.Description}, dir: t.below(s.Dir), plugin: s.Plugin}
		if c.dir == "." && t.tree.Name != "" {
			c.Name = t.tree.Name
		}
		if c.plugin == "" {
			alone++
			if filepath.Base(s.File) == manifest.OngridFile {
				ongrid++
			}
		}
		t.add(c)
	}
	t.nest()
	if alone > 1 && ongrid == alone && t.markets == 0 {
		t.add(candidate{Choice: source.Choice{Name: t.name, Kind: lock.Skill, Description: fmt.Sprintf("a pack of %d skills", alone)}, dir: ".", pack: true})
	}
}

// nest marks the skills of the tree that lie in other skills.
func (t *treeFinder) nest() {
	for i := range t.all {
		c := &t.all[i]
		c.nested = c.nested || c.Kind == lock.Skill && slices.ContainsFunc(t.all, func(other candidate) bool {
			return other.Kind == lock.Skill && other.treeDir == c.treeDir && other.dir != c.dir && in(c.dir, other.dir)
		})
	}
}

// in reports whether a path is a folder, or below it.
func in(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// leftOut has the errors of links that a quarantine did not make, by slash-separated paths.
type leftOut map[string]error

// below returns the links below a folder, with paths in it. Both are host paths.
func (l leftOut) below(quarantine, dir string) leftOut {
	found := leftOut{}
	for name, err := range l {
		if rel, e := filepath.Rel(dir, filepath.Join(quarantine, filepath.FromSlash(name))); e == nil && filepath.IsLocal(rel) {
			found[filepath.ToSlash(rel)] = err
		}
	}
	return found
}

// in returns the error of the first link in a folder.
func (l leftOut) in(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if in(name, dir) {
			return l[name]
		}
	}
	return nil
}

// note names the links.
func (l leftOut) note() []source.Note {
	if len(l) == 0 {
		return nil
	}
	names, more := slices.Sorted(maps.Keys(l)), ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(", and %d more", n)
	}
	return []source.Note{{Text: fmt.Sprintf("links that lead out or nowhere are left out: %q%s", names, more)}}
}
