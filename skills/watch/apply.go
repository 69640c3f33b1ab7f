package watch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"

	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// run applies batches and sends the touched paths, until batches is closed; then
// it closes touched.
func (t *tree) run(batches <-chan batch, touched chan<- []string) {
	defer close(touched)
	for b := range batches {
		if paths := t.apply(b); len(paths) > 0 {
			touched <- paths
		}
	}
}

// apply updates the tree by a batch and returns the touched paths.
func (t *tree) apply(b batch) []string {
	r := newRepair()
	t.places.released = false
	for path, op := range b.ops {
		t.interpret(r, path, op)
	}
	if b.overflow {
		t.invalidateAll(r)
	}
	t.repair(r)
	if t.places.released {
		for _, path := range t.places.lost() {
			t.invalidate(r, path)
		}
		t.repair(r)
	}
	return slices.Collect(maps.Keys(r.touched))
}

// A repair collects the work that a batch of events causes.
type repair struct {
	touched map[string]struct{} // paths as in [Change]
	sites   map[site]struct{}   // sites to be read again
}

func newRepair() *repair {
	return &repair{touched: map[string]struct{}{}, sites: map[site]struct{}{}}
}

// repair reads the sites of r again and clears them.
//
// It detaches all of them before it builds any. If one folder has replaced another,
// the notifier would otherwise mistake the new watch for the old, and end it.
func (t *tree) repair(r *repair) {
	r.touchFound(t)
	for s := range r.sites {
		if f := t.at(s); f != nil {
			t.detach(f)
		}
	}
	for s := range r.sites {
		if s.parent == nil || !s.parent.detached {
			t.build(s)
		}
	}
	r.touchFound(t)
	clear(r.sites)
}

// touchFound touches the sites that exist now. Called before and after, it omits
// those that existed neither time: a root that is still missing, after a folder on
// the way to it appeared or vanished.
func (r *repair) touchFound(t *tree) {
	for s := range r.sites {
		if f := t.at(s); f != nil && f.found {
			r.touched[s.path()] = struct{}{}
		}
	}
}

// interpret adds to r the work for op at path, a path on disk.
func (t *tree) interpret(r *repair, path string, op fsnotify.Op) {
	structural := op.Has(fsnotify.Create) || op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)
	switch {
	case structural:
		delete(t.places.modes, path)
		t.invalidate(r, path)
	case op.Has(fsnotify.Chmod) && t.places.modeChanged(path):
		t.invalidate(r, path)
	case op.Has(fsnotify.Write):
		t.touchFile(r, path)
	}
}

// touchFile touches the file at path wherever the tree has it. Some systems
// call it a write to a folder when an entry of it changes: that entry has an
// event of its own.
func (t *tree) touchFile(r *repair, path string) {
	at := t.places.byPath[filepath.Dir(path)]
	if at == nil || t.places.byPath[path] != nil {
		return
	}
	name := filepath.Base(path)
	for f := range at.folders {
		if !scan.Skip(name) {
			r.touched[site{f, name}.path()] = struct{}{}
		}
	}
	for f := range at.lookups[name] {
		r.touched[f.path()] = struct{}{}
	}
}

// invalidate adds to r all folders that the tree has at path or reaches through it.
// These are all users of the place at path, so repair ends its watch, which may be
// on an earlier folder of that path, and begins another.
func (t *tree) invalidate(r *repair, path string) {
	if at := t.places.byPath[path]; at != nil {
		for f := range at.folders {
			r.sites[f.site] = struct{}{}
		}
		for name := range at.lookups {
			r.invalidateLookups(at, name)
		}
	}
	at := t.places.byPath[filepath.Dir(path)]
	if at == nil {
		return
	}
	name := filepath.Base(path)
	r.invalidateLookups(at, name)
	for f := range at.folders {
		if !scan.Skip(name) {
			r.touched[site{f, name}.path()] = struct{}{}
			r.sites[site{f, name}] = struct{}{}
		}
	}
}

func (r *repair) invalidateLookups(at *place, name string) {
	for f := range at.lookups[name] {
		r.sites[f.site] = struct{}{}
	}
}

// invalidateAll adds every root to r, and touches it.
func (t *tree) invalidateAll(r *repair) {
	clear(t.places.modes)
	for path, f := range t.roots {
		r.sites[f.site] = struct{}{}
		r.touched[path] = struct{}{}
	}
}

// maxModes bounds the recorded modes. Clearing them costs one needless report of
// each path.
const maxModes = 8192

// modeChanged reports whether the mode of path differs from that at the last call,
// and true on the first.
func (p *places) modeChanged(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		// On Linux a removal is a change of attributes too.
		return !errors.Is(err, fs.ErrNotExist)
	}
	if len(p.modes) >= maxModes {
		clear(p.modes)
	}
	before, known := p.modes[path]
	p.modes[path] = info.Mode()
	return !known || before != info.Mode()
}
