package watch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// run applies batches and sends what they touched, until batches is closed;
// then it closes touched.
func (t *tree) run(batches <-chan batch, touched chan<- []string) {
	defer close(touched)
	for {
		b, ok := t.next(batches)
		if !ok {
			return
		}
		if paths := t.apply(b); len(paths) > 0 {
			touched <- paths
		}
	}
}

// next returns what happened next, or what polling found.
func (t *tree) next(batches <-chan batch) (b batch, ok bool) {
	if len(t.places.polled.folders) == 0 {
		t.due = time.Time{}
		b, ok = <-batches
		return b, ok
	}
	if t.due.IsZero() {
		t.due = time.Now().Add(pollEvery)
	}
	timer := time.NewTimer(time.Until(t.due))
	defer timer.Stop()
	select {
	case b, ok = <-batches:
		return b, ok
	case <-timer.C:
		t.due = time.Now().Add(pollEvery)
		return t.poll(), true
	}
}

// poll tries to watch what is polled, and looks at it. A folder that is watched
// now is polled once more: what changed before is no event.
func (t *tree) poll() batch {
	t.places.retry()
	b, looked := t.places.polled.poll()
	for _, path := range looked {
		if at := t.places.byPath[path]; at != nil && at.armed {
			t.places.polled.remove(path)
			for f := range at.folders {
				t.gaps.remove(f.path())
			}
		}
	}
	return b
}

// apply brings the tree in step with a batch and returns the paths touched.
func (t *tree) apply(b batch) []string {
	r := newRepair()
	t.places.released = false
	for path, op := range b.ops {
		t.interpret(r, path, op)
	}
	if b.overflow {
		t.doubtAll(r)
	}
	t.repair(r)
	if t.places.released {
		for _, path := range t.places.lost() {
			t.doubt(r, path)
		}
		t.repair(r)
	}
	return slices.Collect(maps.Keys(r.touched))
}

// A repair is the work that a batch of events makes.
type repair struct {
	touched map[string]struct{} // paths as in [Change]
	sites   map[site]struct{}   // sites to be read again
}

func newRepair() *repair {
	return &repair{touched: map[string]struct{}{}, sites: map[site]struct{}{}}
}

// repair reads the sites of r again, and leaves none.
//
// All of them are felled before any is planted. Where one folder took another's
// place, the notifier would otherwise take the new watch for the old, and end
// it.
func (t *tree) repair(r *repair) {
	r.touchFound(t)
	for s := range r.sites {
		if f := t.at(s); f != nil {
			t.fell(f)
		}
	}
	for s := range r.sites {
		if s.parent == nil || !s.parent.felled {
			t.plant(s)
		}
	}
	r.touchFound(t)
	clear(r.sites)
}

// touchFound touches the sites that have something now. Called before and
// after, it leaves out those that had and have nothing: a root that is missing
// still, after something on the way to it came or went.
func (r *repair) touchFound(t *tree) {
	for s := range r.sites {
		if f := t.at(s); f != nil && f.found {
			r.touched[s.path()] = struct{}{}
		}
	}
}

// interpret adds to r what op at path, a path on disk, means.
func (t *tree) interpret(r *repair, path string, op fsnotify.Op) {
	structural := op.Has(fsnotify.Create) || op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)
	switch {
	case structural:
		delete(t.places.modes, path)
		t.doubt(r, path)
	case op.Has(fsnotify.Chmod) && t.places.modeChanged(path):
		t.doubt(r, path)
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
		if !t.options.Skip(name) {
			r.touched[site{f, name}.path()] = struct{}{}
		}
	}
	for f := range at.lookups[name] {
		r.touched[f.path()] = struct{}{}
	}
}

// doubt puts in doubt whatever the tree has at path or reaches through it. That
// is all who hold the place at path, so repair ends its watch, which may be on
// a folder that was there before, and begins another.
func (t *tree) doubt(r *repair, path string) {
	if at := t.places.byPath[path]; at != nil {
		for f := range at.folders {
			r.sites[f.site] = struct{}{}
		}
		for name := range at.lookups {
			r.doubtLookups(at, name)
		}
	}
	at := t.places.byPath[filepath.Dir(path)]
	if at == nil {
		return
	}
	name := filepath.Base(path)
	r.doubtLookups(at, name)
	for f := range at.folders {
		if !t.options.Skip(name) {
			r.touched[site{f, name}.path()] = struct{}{}
			r.sites[site{f, name}] = struct{}{}
		}
	}
}

func (r *repair) doubtLookups(at *place, name string) {
	for f := range at.lookups[name] {
		r.sites[f.site] = struct{}{}
	}
}

// doubtAll puts everything in doubt, and every root is touched.
func (t *tree) doubtAll(r *repair) {
	clear(t.places.modes)
	for path, f := range t.roots {
		r.sites[f.site] = struct{}{}
		r.touched[path] = struct{}{}
	}
}

// maxModes bounds the modes remembered. Forgetting them costs a report too many
// of each path.
const maxModes = 8192

// modeChanged tells whether the mode of path differs from that at the last call,
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
