package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A tree keeps the watches in step with the folders on disk. One goroutine uses
// it at a time: that of New, then that of run.
type tree struct {
	options Options
	gaps    *gaps
	places  *places
	roots   map[string]*folder // by path
	due     time.Time          // when to poll next, if anything is polled
}

func newTree(source notifier, gaps *gaps, o Options) *tree {
	return &tree{
		options: o,
		gaps:    gaps,
		places:  &places{source: source, byPath: map[string]*place{}, modes: map[string]fs.FileMode{}, polled: newPoller()},
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
	if tooDeep || f.loops() || f.leaves() {
		f.real = "" // that it leads elsewhere is still noticed
	}
	return f
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
