package snapshot

import (
	"time"

	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// A record is a skill's last snapshot and the entries that it was made from. It is
// immutable.
type record struct {
	Snapshot
	at      place
	tree    tree
	watched tree      // the entries whose stamps show changes
	certain bool      // of all watched
	looked  time.Time // when the look at the entries began
}

// since reports whether the snapshot is of what a folder had after a time.
func (r *record) since(began time.Time, at place) bool {
	return r != nil && r.at == at && r.looked.After(began) && r.watched[:1].in(at)
}

// current reports whether a folder is certain to be as it was for the snapshot. It
// opens the folder, and nothing in it.
func (r *record) current(at place) bool {
	return r != nil && r.certain && r.at == at && r.watched.in(at)
}

// in reports whether the entries are unchanged at a place.
func (t tree) in(at place) bool {
	dir, err := stamp.OpenFolder(at.dir)
	if err != nil {
		return false
	}
	defer dir.Close()
	return t.unchanged(dir)
}

// byName returns the entries by name. r may be nil.
func (r *record) byName() map[string]*entry {
	if r == nil {
		return nil
	}
	all := make(map[string]*entry, len(r.tree))
	for i := range r.tree {
		all[r.tree[i].name] = &r.tree[i]
	}
	return all
}
