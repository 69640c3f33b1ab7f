package activation

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// walk visits the files of one workspace, level by level.
type walk struct {
	ctx   context.Context
	files fs.FS
	left  int // files and folders that may still be read
	depth int // levels of folders to enter
	// visit receives each file; the walk ends when it returns false.
	visit func(ctx context.Context, name string) (more bool)
}

// run visits the files and reports whether it ended before any bound: it visited
// all of them, or visit returned false.
func (w *walk) run() (complete bool) {
	folders := []string{"."}
	for depth := 0; len(folders) > 0; depth++ {
		if depth > w.depth {
			return false
		}
		var below []string
		for _, folder := range folders {
			if w.ctx.Err() != nil || w.left <= 0 {
				return false
			}
			inner, more := w.folder(folder)
			if !more {
				return w.ctx.Err() == nil
			}
			below = append(below, inner...)
		}
		folders = below
	}
	return w.left > 0 // a folder may have had more
}

// folder visits the files of one folder and returns its subfolders. An unreadable
// folder counts as empty.
func (w *walk) folder(dir string) (inner []string, more bool) {
	for _, entry := range w.entries(dir) {
		name := path.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && !skip(entry.Name()):
			inner = append(inner, name)
		case entry.Type().IsRegular() && !w.visit(w.ctx, name):
			return nil, false
		}
	}
	return inner, true
}

// entries returns the entries of a folder, sorted, within the budget: a folder may
// hold millions.
func (w *walk) entries(dir string) []fs.DirEntry {
	file, err := w.files.Open(dir)
	if err != nil {
		return nil
	}
	defer file.Close()
	folder, ok := file.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	var all []fs.DirEntry
	for w.left > 0 && w.ctx.Err() == nil {
		some, err := folder.ReadDir(min(w.left, 256))
		all = append(all, some...)
		w.left -= len(some)
		if err != nil || len(some) == 0 {
			break // the end, or a read error
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all
}

// skip reports whether a folder holds output or downloads of tools.
func skip(name string) bool {
	switch name {
	case ".hg", ".svn", ".jj", "venv", ".tox", ".mypy_cache", ".pytest_cache", ".gradle", ".terraform", "bower_components":
		return true
	}
	return scan.Skip(name)
}
