package watch

import "io/fs"

// A place is a watched folder on disk: folders of the tree have this path, or the
// path to one was looked up in it, or both.
type place struct {
	folders map[*folder]struct{}
	lookups map[string]map[*folder]struct{} // by the name that was looked up
	armed   bool                            // the notifier watches it
	err     error                           // the reason if not
}

// A places is all places by their path, which has no symbolic links in it, and
// the mode changes seen in them.
type places struct {
	source notifier
	byPath map[string]*place
	modes  map[string]fs.FileMode // by path; see modeChanged
	// released is set whenever a watch is ended; apply clears it.
	released bool
}

// arm returns the place at path, watched if possible. The caller adds itself to the
// place: see enter and look.
func (p *places) arm(path string) *place {
	at := p.byPath[path]
	if at == nil {
		at = &place{folders: map[*folder]struct{}{}, lookups: map[string]map[*folder]struct{}{}}
		p.byPath[path] = at
	}
	if !at.armed {
		at.err = asLimit(p.source.Add(path), watchRemedy)
		at.armed = at.err == nil
	}
	return at
}

// enter adds f to the place at path. The error says why that is not watched.
func (p *places) enter(f *folder, path string) error {
	at := p.arm(path)
	at.folders[f] = struct{}{}
	return at.err
}

// leave undoes enter.
func (p *places) leave(f *folder, path string) {
	at := p.byPath[path]
	delete(at.folders, f)
	p.release(path, at)
}

// look makes f depend on the lookup l. The error says why that is not watched.
func (p *places) look(f *folder, l lookup) error {
	at := p.arm(l.dir)
	if at.lookups[l.name] == nil {
		at.lookups[l.name] = map[*folder]struct{}{}
	}
	at.lookups[l.name][f] = struct{}{}
	return at.err
}

// unlook undoes look. It may have been done: a path can make the same step
// twice.
func (p *places) unlook(f *folder, l lookup) {
	at := p.byPath[l.dir]
	if at == nil {
		return
	}
	if delete(at.lookups[l.name], f); len(at.lookups[l.name]) == 0 {
		delete(at.lookups, l.name)
	}
	p.release(l.dir, at)
}

// release ends the watch on an unused place.
func (p *places) release(path string, at *place) {
	if len(at.folders)+len(at.lookups) > 0 {
		return
	}
	delete(p.byPath, path)
	if at.armed {
		// An error means that the folder is gone, and its watch with it.
		_ = p.source.Remove(path)
		p.released = true
	}
}

// lost returns the paths of places whose watch ended with another's.
//
// The system has one watch per folder, not per path. A folder that was moved,
// and found at its new path before the event that it left the old one, shares
// the watch of the old path, and loses it with that.
func (p *places) lost() []string {
	has := map[string]bool{}
	for _, path := range p.source.WatchList() {
		has[path] = true
	}
	var lost []string
	for path, at := range p.byPath {
		if at.armed && !has[path] {
			lost = append(lost, path)
		}
	}
	return lost
}
