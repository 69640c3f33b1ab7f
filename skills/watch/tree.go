package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A folder is a root, or a folder or a symbolic link below one. The same folder
// on disk is in the tree once for each path that leads to it.
type folder struct {
	site
	root  *folder // itself for a root
	depth int     // 0 for a root

	found    bool // there is something, if only the file that a link leads to
	real     string
	trail    trail // how it was found, for a root or a link
	children map[string]*folder
	below    int  // of a root: how many folders and links are below it
	felled   bool // no longer in the tree
}

// A site is where in the tree a folder is or could be.
type site struct {
	parent *folder // nil for a root
	name   string  // for a root, its path
}

// path returns the path of s as in [Change].
func (s site) path() string {
	if s.parent == nil {
		return s.name
	}
	return filepath.Join(s.parent.path(), s.name)
}

// A tree keeps the watches in step with the folders on disk. One goroutine uses
// it at a time: that of New, then that of run.
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

func (t *tree) plantRoots(paths []string) {
	for _, path := range paths {
		t.plant(site{name: path})
	}
}

// at returns the folder at s, or nil.
func (t *tree) at(s site) *folder {
	if s.parent == nil {
		return t.roots[s.name]
	}
	return s.parent.children[s.name]
}

// plant takes what is on disk at s into the tree, with everything below it.
// There must be nothing at s in the tree.
//
// A folder is watched before it is read. So whatever appears in it is either
// read here or an event later, and whoever is told of s after plant returns and
// reads the disk sees the rest.
func (t *tree) plant(s site) {
	var first *folder
	if s.parent == nil {
		first = t.plantRoot(s)
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

func (t *tree) plantRoot(s site) *folder {
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
	if !link && (!mode.IsDir() || tooDeep) || t.options.Skip(s.name) {
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
	if tooDeep || f.loops() {
		f.real = "" // that it leads elsewhere is still noticed
	}
	return f
}

func (f *folder) add(child *folder) {
	if f.children == nil {
		f.children = map[string]*folder{}
	}
	f.children[child.name] = child
}

// loops tells whether f, a link, leads to a folder that f itself lies in.
func (f *folder) loops() bool {
	for up := f.parent; up != nil; up = up.parent {
		if within(up.real, f.real) {
			return true
		}
	}
	return false
}

// maxTries is how often a path is followed that changes all the time. Giving up
// is safe: the change that was in the way is an event by then.
const maxTries = 5

// track follows path, relative to dir, to where f is, and watches every step.
// A step may change before it is watched, so the path is followed again until
// it leads the same way twice.
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

// setTrail watches the steps of next instead of those of f so far, and returns
// why the last is not watched, or nil. That one further up is not watched is no
// gap: those folders seldom change, and are often not ours to read.
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

// open watches f and returns what is below it, attached but not open yet.
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

// fell takes f out of the tree, with everything below it.
func (t *tree) fell(f *folder) {
	for _, child := range f.children {
		t.fell(child)
	}
	t.clearTrail(f)
	if f.real != "" {
		t.places.leave(f, f.real)
	}
	t.gaps.remove(f.path())
	f.felled = true
	f.root.below--
	if f.parent == nil {
		delete(t.roots, f.name)
	} else {
		delete(f.parent.children, f.name)
	}
}
