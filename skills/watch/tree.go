package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A tree mirrors the folders on disk with their watches. One goroutine uses it at a
// time: that of New, then that of run.
type tree struct {
	options Options
	gaps    *gaps
	places  *places
	roots   map[string]*folder // by path
}

func newTree(source notifier, gaps *gaps, o Options) *tree {
	return &tree{
		options: o,
		gaps:    gaps,
		places:  &places{source: source, byPath: map[string]*place{}, modes: map[string]fs.FileMode{}},
		roots:   map[string]*folder{},
	}
}

func (t *tree) buildRoots(paths []string) {
	for _, path := range paths {
		t.build(site{name: path})
	}
}

// at returns the folder at s, or nil.
func (t *tree) at(s site) *folder {
	if s.parent == nil {
		return t.roots[s.name]
	}
	return s.parent.children[s.name]
}

// build adds the folder or link at s on disk to the tree, with everything below it.
// The tree must have nothing at s.
//
// A folder is watched before it is read. So a new entry is either read here or an
// event later, and a receiver that reads s after build returns sees the rest.
func (t *tree) build(s site) {
	var first *folder
	if s.parent == nil {
		first = t.buildRoot(s)
	} else if info, err := os.Lstat(filepath.Join(s.parent.real, s.name)); err == nil {
		first = t.attach(s, info.Mode())
	}
	if first == nil {
		return
	}
	// Level by level, so that a limit is spent on what is near the root.
	for level := []*folder{first}; len(level) > 0; level = level[1:] {
		level = append(level, t.open(level[0])...)
	}
}

func (t *tree) buildRoot(s site) *folder {
	f := &folder{site: s}
	f.root = f
	t.roots[s.name] = f
	t.track(f, top(s.name), s.name)
	return f
}

// attach adds the folder or link at s to the tree, and returns nil if it is
// something else or not to be watched.
func (t *tree) attach(s site, mode fs.FileMode) *folder {
	link := mode&fs.ModeSymlink != 0
	depth := s.parent.depth + 1
	tooDeep := depth > t.options.Depth
	if !link && (!mode.IsDir() || tooDeep) || scan.Skip(s.name) {
		return nil
	}
	root := s.parent.root
	if root.below >= t.options.Folders {
		t.gaps.add(root.name, ErrFolders)
		return nil
	}
	f := &folder{site: s, root: root, depth: depth}
	root.below++
	s.parent.add(f)
	if !link {
		f.found, f.real = true, filepath.Join(s.parent.real, s.name)
		return f
	}
	t.track(f, s.parent.real, s.name)
	if tooDeep || f.loops() || f.leaves() {
		f.real = "" // a change of its target is still noticed
	}
	return f
}

// open watches f and returns its children, attached but not open yet.
func (t *tree) open(f *folder) []*folder {
	if f.real == "" {
		return nil
	}
	if err := t.places.enter(f, f.real); err != nil {
		t.gaps.add(f.path(), err)
	}
	entries, err := os.ReadDir(f.real)
	if err != nil {
		t.gaps.add(f.path(), err)
	}
	var children []*folder
	for _, entry := range entries {
		if child := t.attach(site{f, entry.Name()}, entry.Type()); child != nil {
			children = append(children, child)
		}
	}
	return children
}

// maxTries bounds the attempts to follow a path that keeps changing. Giving up is
// safe: the last change is an event by then.
const maxTries = 5

// track follows path, relative to dir, to f and watches every step. A step may
// change before it is watched, so track repeats until two trails are the same.
func (t *tree) track(f *folder, dir, path string) {
	var unwatched error
	for range maxTries {
		next := follow(dir, path)
		if f.trail.lookups != nil && f.trail.same(&next) {
			break
		}
		unwatched = t.setTrail(f, next)
	}
	f.found = f.trail.err == nil
	switch {
	case f.trail.folder:
		f.real = f.trail.real
	case errors.Is(f.trail.err, fs.ErrPermission):
		t.gaps.add(f.path(), f.trail.err)
	case unwatched != nil:
		t.gaps.add(f.path(), unwatched)
	}
}

// setTrail watches the steps of next instead of f's current ones. The error says
// why the last is not watched. An unwatched step further up is no gap: those
// folders seldom change, and are often not readable.
func (t *tree) setTrail(f *folder, next trail) (err error) {
	t.clearTrail(f)
	f.trail = next
	for _, l := range next.watched() {
		err = t.places.look(f, l)
	}
	return err
}

func (t *tree) clearTrail(f *folder) {
	for _, l := range f.trail.watched() {
		t.places.unlook(f, l)
	}
}

// detach removes f from the tree, with everything below it.
func (t *tree) detach(f *folder) {
	for _, child := range f.children {
		t.detach(child)
	}
	t.clearTrail(f)
	if f.real != "" {
		t.places.leave(f, f.real)
	}
	t.gaps.remove(f.path())
	f.detached = true
	f.root.below--
	if f.parent == nil {
		delete(t.roots, f.name)
	} else {
		delete(f.parent.children, f.name)
	}
}
