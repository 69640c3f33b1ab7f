package scan

import (
	"io/fs"
	"path"
	"runtime"
	"sync"
)

// A listing is what a folder holds, as far as a walk needs to know.
type listing struct {
	fsys    fs.FS
	dir     string
	entries []fs.DirEntry // sorted by name
}

// listed is an entry of a listing. Those of the system's would hold more.
type listed struct {
	in   *listing
	name string
	mode fs.FileMode // the type
}

func (e *listed) Name() string      { return e.name }
func (e *listed) IsDir() bool       { return e.mode.IsDir() }
func (e *listed) Type() fs.FileMode { return e.mode }
func (e *listed) String() string    { return fs.FormatDirEntry(e) }

// Info looks at the entry as it is by now.
func (e *listed) Info() (fs.FileInfo, error) { return fs.Lstat(e.in.fsys, path.Join(e.in.dir, e.name)) }

// newListing keeps the entries of a folder. fsys is what they are looked at with
// later.
func newListing(fsys fs.FS, dir string, entries []fs.DirEntry) *listing {
	l := &listing{fsys: fsys, dir: dir, entries: make([]fs.DirEntry, len(entries))}
	all := make([]listed, len(entries))
	for i, e := range entries {
		all[i] = listed{l, e.Name(), e.Type()}
		l.entries[i] = &all[i]
	}
	return l
}

// same reports whether two listings have the same names, of the same types.
func (l *listing) same(other *listing) bool {
	if len(l.entries) != len(other.entries) {
		return false
	}
	for i, e := range l.entries {
		if o := other.entries[i]; o.Name() != e.Name() || o.Type() != e.Type() {
			return false
		}
	}
	return true
}

// list returns the entries of a folder of the root: as the scan before left
// them, or as they were read ahead, or else read now.
func (s *scanner) list(dir string) ([]fs.DirEntry, error) {
	host := s.host(dir)
	if l := s.before.listing(host); l != nil {
		s.memory.listings[host] = l
		return l.entries, nil
	}
	if l := s.memory.listing(host); l != nil { // a plugin's folder is walked twice
		return l.entries, nil
	}
	l, read := s.ahead[dir]
	delete(s.ahead, dir)
	if !read {
		var err error
		if l, err = s.read(dir); err != nil {
			return nil, err
		}
	}
	if host != "" {
		s.memory.listings[host] = l
	}
	return l.entries, nil
}

// read reads a folder of the root.
func (s *scanner) read(dir string) (*listing, error) {
	host, cache := s.host(dir), s.builder.cache
	if host == "" || cache == nil {
		entries, err := fs.ReadDir(s.reader(), dir)
		return newListing(s.files, dir, entries), err
	}
	if entries, known := cache.Folder(host); known {
		return newListing(s.files, dir, entries), nil
	}
	before, statErr := fs.Lstat(s.reader(), dir)
	entries, err := fs.ReadDir(s.reader(), dir)
	l := newListing(s.files, dir, entries)
	if err == nil && statErr == nil {
		cache.KeepFolder(Look{host, before}, l.entries)
	}
	return l, err
}

// reader is what folders are read with.
func (s *scanner) reader() fs.FS {
	if s.held != nil {
		return *s.held
	}
	return s.files
}

// readAhead reads folders, on all processors. What cannot be read is left to be
// read, and reported, in its turn.
func (s *scanner) readAhead(dirs []string) {
	dirs = s.unread(dirs)
	read := make([]*listing, len(dirs))
	share(len(dirs), func(i int) {
		if s.ctx.Err() == nil {
			read[i], _ = s.read(dirs[i])
		}
	})
	for i, l := range read {
		if l != nil {
			s.ahead[dirs[i]] = l
		}
	}
}

// unread returns the folders that will be read, within the root's limit.
func (s *scanner) unread(dirs []string) []string {
	var unread []string
	room := s.room()
	for _, dir := range dirs {
		if len(unread) >= room {
			break
		}
		if s.before.listing(s.host(dir)) == nil && s.ahead[dir] == nil {
			unread = append(unread, dir)
		}
	}
	return unread
}

// share calls do for 0 to n-1, on all processors.
func share(n int, do func(i int)) {
	const most = 16 // at a time: handing out one by one costs more than a folder
	workers := min(runtime.GOMAXPROCS(0), (n+most-1)/most)
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	starts := make(chan int)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for start := range starts {
				for i := start; i < min(start+most, n); i++ {
					do(i)
				}
			}
		})
	}
	for start := 0; start < n; start += most {
		starts <- start
	}
	close(starts)
	running.Wait()
}
