package scan

import (
	"io/fs"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// read reads a folder of the root.
func (s *rootReader) read(dir string) (listing, error) {
	host, cache := s.host(dir), s.builder.cache
	if host != "" && s.ahead != nil && s.ahead(host) {
		s.memory.watched.Store(host, true)
	}
	if host != "" && cache != nil {
		if entries, known := cache.Folder(host); known {
			return entries, nil
		}
	}
	info, entries, err := list(s.reader(), dir)
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
