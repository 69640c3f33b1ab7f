package scan

import (
	"io/fs"
	"path"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// read reads a folder of the root.
func (s *rootReader) read(dir string) (listing, error) { return s.readIn(nil, dir) }

// readIn reads a folder of the root, by way of the folder above it if in holds that.
func (s *rootReader) readIn(in *holder, dir string) (listing, error) {
	host, cache := s.host(dir), s.builder.cache
	if host != "" && cache != nil {
		if entries, known := cache.Folder(host); known {
			return entries, nil
		}
	}
	files, name := s.reader(), dir
	if above := in.above(dir); above != nil {
		files, name = above, path.Base(dir)
	}
	info, entries, err := list(files, name)
	l := newListing(entries)
	if err == nil && host != "" && cache != nil {
		cache.KeepFolder(Look{host, info}, l)
	}
	return l, err
}

// list returns the state of a folder, and the entries that it has after that.
func list(files fs.FS, name string) (info fs.FileInfo, entries []fs.DirEntry, err error) {
	if d, ok := files.(skillfs.Dir); ok {
		return d.List(name)
	}
	if info, err = fs.Lstat(files, name); err == nil {
		entries, err = fs.ReadDir(files, name)
	}
	return info, entries, err
}

// A holder keeps a folder open whose subfolders are read: a path is opened one component
// at a time.
type holder struct {
	dir  string
	root *skillfs.Dir // nil holds nothing

	once sync.Once
	held *skillfs.Dir // valid after once; nil for one that cannot be opened
}

// above returns the folder above dir, or nil for one that is not held.
func (h *holder) above(dir string) fs.FS {
	if h == nil || h.root == nil || h.dir == "." || path.Dir(dir) != h.dir { // a link may lead elsewhere
		return nil
	}
	h.once.Do(func() {
		if held, err := h.root.HoldSub(h.dir); err == nil {
			h.held = &held
		}
	})
	if h.held == nil {
		return nil
	}
	return *h.held
}

func (h *holder) release() {
	if h.held != nil {
		h.held.Close()
	}
}
