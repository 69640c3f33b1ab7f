package watch

import (
	"errors"
	"io/fs"
)

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
