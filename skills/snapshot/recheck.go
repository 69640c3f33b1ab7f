package snapshot

import (
	"io/fs"
	"slices"
	"time"
)

// recheck returns the record of a folder that is as it was for the last snapshot, or
// nil. It lists nothing, and reads only the files whose stamps are not certain: those
// that were written shortly before they were read.
func (r *record) recheck(files fs.FS, clock func() time.Time) *record {
	if !r.rereadable() {
		return nil
	}
	looked, now := time.Now(), clock()
	source, err := openSource(files, clock)
	if err != nil {
		return nil
	}
	defer source.close()
	if source.at != r.at || !r.tree.unchanged(source.folder) {
		return nil
	}
	tree := slices.Clone(r.tree)
	for i := range tree {
		if e := &tree[i]; !e.certain {
			if !source.same(e) {
				return nil
			}
			e.certain = e.stamp.Certain(now)
		}
	}
	return &record{r.Snapshot, r.at, tree, tree, tree.certain(), looked}
}

// rereadable reports whether only files of the record are uncertain, and some are.
func (r *record) rereadable() bool {
	return r != nil && !r.certain && r.at.name == "" && !slices.ContainsFunc(r.tree, func(e entry) bool {
		return !e.certain && (!e.isFile() || !e.read || e.stamp.Changed == 0)
	})
}
