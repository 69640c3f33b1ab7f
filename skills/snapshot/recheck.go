package snapshot

import (
	"io/fs"
	"slices"
	"time"
)

// recheck returns the record of a folder that is as it was for the last snapshot, or
// nil. It lists nothing, and reads only the files whose stamps are not certain: those
// that were written shortly before they were read.
func (s *Store) recheck(files fs.FS, last *record) *record {
	if !last.rereadable() {
		return nil
	}
	opened, now := time.Now(), s.now()
	source, err := openSource(files, s.now)
	if err != nil {
		return nil
	}
	defer source.close()
	if source.at != last.at || !last.tree.unchanged(source.folder) {
		return nil
	}
	tree := slices.Clone(last.tree)
	for i := range tree {
		if e := &tree[i]; !e.certain {
			if !source.same(e) {
				return nil
			}
			e.certain = e.stamp.Certain(now)
		}
	}
	return &record{last.Snapshot, last.at, tree, tree, tree.certain(), opened}
}

// rereadable reports whether only files of the record are uncertain, and some are.
func (r *record) rereadable() bool {
	return r != nil && !r.certain && r.at.name == "" && !slices.ContainsFunc(r.tree, func(e entry) bool {
		return !e.certain && (!e.isFile() || !e.read || e.stamp.Changed == 0)
	})
}

// same reports whether a file has the content of its sum, and nobody writes it.
func (s *source) same(e *entry) bool {
	again := *e
	return e.unquiet(time.Now()) <= 0 && !s.hasWriter(e) && s.copy(&again, nil) == nil && again.sum == e.sum
}
