package watch

import (
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A folder is a root, or a folder or a symbolic link below one. The same folder
// on disk is in the tree once for each path that leads to it.
type folder struct {
	site
	root  *folder // itself for a root
	depth int     // 0 for a root

	found    bool               // it exists, if only as a link to a file
	real     string             // path on disk, without links; "" if it is no folder to watch
	trail    trail              // of a root or a link: the steps to it
	children map[string]*folder // by name
	below    int                // of a root: number of folders and links below it
	detached bool               // no longer in the tree
}

// A site is a position in the tree, with or without a folder.
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

func (f *folder) add(child *folder) {
	if f.children == nil {
		f.children = map[string]*folder{}
	}
	f.children[child.name] = child
}

// loops reports whether f, a link, leads to a folder that f itself lies in.
func (f *folder) loops() bool {
	for up := f.parent; up != nil; up = up.parent {
		if skillfs.Inside(f.real, up.real) {
			return true
		}
	}
	return false
}

// leaves reports whether f, a link, leads out of its root. A stranger's link, to /
// perhaps, must not cost watches at every start; the scanner does not follow such
// links either.
func (f *folder) leaves() bool { return !skillfs.Inside(f.root.real, f.real) }
