package scan

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Scanner reads the same roots again and again. After its first scan it reads
// again what is said to have changed, and no more. Start with [NewScanner]. Its
// methods may be called from any goroutine; one scan runs at a time.
type Scanner struct {
	roots   []Root
	options Options

	readings readings

	mu   sync.Mutex // held while it scans
	last *memory    // of the last scan; nil before the first and after one that failed
}

// NewScanner returns a scanner of roots, which come in order of priority.
// Options may be nil.
func NewScanner(roots []Root, options *Options) *Scanner {
	s := &Scanner{roots: slices.Clone(roots)}
	if options != nil {
		s.options = *options
	}
	s.options.readings = &s.readings
	s.options.Depth = cmp.Or(s.options.Depth, DefaultDepth)
	s.options.Manifests = cmp.Or(s.options.Manifests, DefaultManifests)
	s.options.Folders = cmp.Or(s.options.Folders, DefaultFolders)
	return s
}

// Scan reads all of the roots, as [Scan] does.
func (s *Scanner) Scan(ctx context.Context) (*skills.Catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scan(ctx, nil)
}

// Rescan returns what [Scanner.Scan] would, if since the last scan nothing has
// changed but what is at or below paths. These are absolute, and lead to a root
// as that was given, or without links; others do not matter. The catalog shares
// the skills that did not change with the one before.
func (s *Scanner) Rescan(ctx context.Context, paths []string) (*skills.Catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return s.scan(ctx, nil)
	}
	s.last.cache = nil // it knows what was read before
	changed, simple := s.last.locate(paths)
	if !simple {
		return s.scan(ctx, nil)
	}
	if len(changed) == 0 {
		return s.last.catalog, nil
	}
	if catalog := s.last.patch(changed, s.options); catalog != nil {
		return catalog, nil
	}
	s.last.forget(changed)
	return s.scan(ctx, s.last)
}

// Recheck returns what [Scanner.Scan] would, and needs not have been told of any
// change since the last scan. Without a cache it is a scan.
func (s *Scanner) Recheck(ctx context.Context) (*skills.Catalog, error) {
	s.mu.Lock()
	if s.last == nil || s.last.cache == nil || s.last.moved() {
		defer s.mu.Unlock()
		return s.scan(ctx, nil)
	}
	paths, folders := s.last.cache.Changed()
	paths = append(paths, s.last.recentlyProbed()...)
	s.last.cache = nil
	s.mu.Unlock()
	for _, dir := range folders {
		paths = append(paths, filepath.Join(dir, "an entry"))
	}
	return s.Rescan(ctx, paths)
}

// scan reads the roots, but for what before knows; nil knows nothing.
func (s *Scanner) scan(ctx context.Context, before *memory) (*skills.Catalog, error) {
	s.last = nil
	b, m := newBuilder(), newMemory()
	b.problems = slices.Clone(s.options.Problems)
	if s.options.Cache != nil && before == nil {
		b.cache = s.options.Cache()
	}
	defer b.release()
	for _, root := range s.roots {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r := &scanner{
			ctx: ctx, options: s.options, root: root, builder: b, seen: map[string]bool{}, skip: map[string]bool{},
			before: before, memory: m, ahead: map[string]*listing{},
		}
		r.scan()
		m.add(root, r.root)
	}
	b.load(ctx, s.options, before)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.take(b.candidates)
	m.catalog, m.cache = b.catalog(), b.cache
	s.last = m
	return m.catalog, nil
}

// A memory is what a scan read, for the next. Its paths are host paths without
// links.
type memory struct {
	began      time.Time
	places     []location
	listings   map[string]*listing     // by folder
	probed     map[string]bool         // what the walk looked at beside folders, such as manifests of plugins
	candidates map[string][]*candidate // by folder, or package
	catalog    *skills.Catalog
	cache      Cache // closed; nil where there was none or it was asked
}

// A location is where a root is.
type location struct{ given, real string }

func newMemory() *memory {
	return &memory{began: time.Now(), listings: map[string]*listing{}, probed: map[string]bool{}, candidates: map[string][]*candidate{}}
}

// moved reports whether a root came, went or leads elsewhere.
func (m *memory) moved() bool {
	for _, p := range m.places {
		real, err := filepath.EvalSymlinks(p.given)
		if there := m.listings[p.real] != nil; there != (err == nil) || there && real != p.real {
			return true
		}
	}
	return false
}

// tick is more than one of any file system's clock.
const tick = 2 * time.Second

// recentlyProbed returns what the walk looked at that changed about when it did,
// or since.
func (m *memory) recentlyProbed() []string {
	var recent []string
	for name := range m.probed {
		if info, err := os.Lstat(name); err == nil && info.ModTime().After(m.began.Add(-tick)) {
			recent = append(recent, name)
		}
	}
	return recent
}

// listing returns what is known of a folder, or nil.
func (m *memory) listing(dir string) *listing {
	if m == nil || dir == "" {
		return nil
	}
	return m.listings[dir]
}

func (m *memory) add(given, read Root) {
	if given.Dir != "" {
		m.places = append(m.places, location{filepath.Clean(given.Dir), filepath.Clean(read.Dir)})
	}
}

func (m *memory) take(candidates []*candidate) {
	for _, c := range candidates {
		if at := c.place(); at != "" {
			m.candidates[at] = append(m.candidates[at], c)
		}
	}
}

// locate returns paths as they are without links above them, each once, without
// those that lie in no root. It is not simple where a root itself may have come,
// gone or moved.
func (m *memory) locate(paths []string) (changed []string, simple bool) {
	for _, name := range paths {
		name = filepath.Clean(name)
		for _, p := range m.places {
			for _, root := range []string{p.given, p.real} {
				if skillfs.Inside(name, root) {
					return nil, false
				}
				if skillfs.Inside(root, name) {
					changed = append(changed, filepath.Join(p.real, name[len(root):]))
				}
			}
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), true
}

// forget drops what is known at and below paths, and of the folders that they
// are in.
func (m *memory) forget(paths []string) {
	gone := map[string]bool{}
	for _, name := range paths {
		gone[name] = true
		delete(m.listings, filepath.Dir(name))
		for dir := range upwards(name) {
			delete(m.candidates, dir)
		}
	}
	covered := func(name string) bool {
		for dir := range upwards(name) {
			if gone[dir] {
				return true
			}
		}
		return false
	}
	for dir := range m.listings {
		if covered(dir) {
			delete(m.listings, dir)
		}
	}
	for dir := range m.candidates {
		if covered(dir) {
			delete(m.candidates, dir)
		}
	}
}

// upwards yields name and the folders that it lies in.
func upwards(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for yield(name) {
			up := filepath.Dir(name)
			if up == name {
				return
			}
			name = up
		}
	}
}

// recall finishes c with what is known of the same candidate, if anything is.
func (m *memory) recall(c *candidate) bool {
	if m == nil || c.place() == "" {
		return false
	}
	for _, known := range m.candidates[c.place()] {
		if known.is(c) {
			c.skill, c.err = known.skill, known.err
			return true
		}
	}
	return false
}

// probe returns a view of a root that notes each path which is looked at, except
// for the entries of folders: listings know those. What is looked at in a skill's
// own folder belongs to the skill.
func (m *memory) probe(files fs.FS, host func(name string) string) fs.FS {
	return &skillfs.View{FS: files, Looked: func(op, name string) {
		if at := host(name); at != "" && name != "." && op != "readdir" && op != "sub" {
			m.probed[at] = true
		}
	}}
}
