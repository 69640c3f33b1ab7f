package scan

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Scanner reads the same roots again and again. After its first scan it rereads
// only the paths that changed. Start with [NewScanner]. Its methods may be called
// from any goroutine; one scan runs at a time.
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
	return s.scan(ctx, nil, time.Time{})
}

// Begin is Scan, but once the time until is over it leaves out the skills that are not
// read by then. It reports whether that were all; else the next scan reads the others.
func (s *Scanner) Begin(ctx context.Context, until time.Time) (catalog *skills.Catalog, all bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	catalog, err = s.scan(ctx, nil, until)
	return catalog, err == nil && !s.last.partial, err
}

// Rescan returns the same catalog as [Scanner.Scan], provided that since the last
// scan only files at or below paths have changed. These are absolute, and lead to
// a root as that was given, or without links; others do not matter. The trust in
// workspaces may have changed, too. The catalog shares the skills that did not change with the one before.
func (s *Scanner) Rescan(ctx context.Context, paths []string) (*skills.Catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return s.scan(ctx, nil, time.Time{})
	}
	return s.rescan(ctx, paths)
}

// rescan is Rescan, after a scan.
func (s *Scanner) rescan(ctx context.Context, paths []string) (*skills.Catalog, error) {
	changed, simple := s.last.locate(paths)
	if !simple {
		return s.scan(ctx, nil, time.Time{})
	}
	if len(changed) == 0 && !s.last.partial && s.sameTrust(s.last) {
		return s.last.catalog, nil
	}
	before := s.last
	before.forget(changed)
	catalog, err := s.scan(ctx, before, time.Time{})
	if err == nil && equal(before.catalog, catalog) {
		s.last.catalog = before.catalog
		return before.catalog, nil
	}
	return catalog, err
}

// equal reports whether two catalogs have the same skills and say the same.
func equal(a, b *skills.Catalog) bool {
	return slices.Equal(a.Skills, b.Skills) && slices.Equal(a.Shadowed, b.Shadowed) && slices.Equal(a.Problems, b.Problems) &&
		reflect.DeepEqual(a.Plugins, b.Plugins) && reflect.DeepEqual(a.Agents, b.Agents)
}

// Changed returns the paths that a [Scanner.Recheck] would read again.
func (s *Scanner) Changed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return nil
	}
	return s.last.changed(&sync.Map{})
}

// Watched returns the entries of a host folder, if it is watched since before it was read:
// see [Options].Ahead.
func (s *Scanner) Watched(folder string) []fs.DirEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return nil
	}
	if _, watched := s.last.watched.Load(folder); !watched {
		return nil
	}
	return s.last.listings[folder]
}

// Recheck returns the same catalog as [Scanner.Scan]. It reads again what has changed since
// the Recheck or Scan before, or shortly before that, by the times of all that was read:
// looking at them takes some 10 ms for 1,000 skills.
func (s *Scanner) Recheck(ctx context.Context) (*skills.Catalog, error) {
	return s.recheck(ctx, func(*memory) *sync.Map { return &sync.Map{} })
}

// RecheckUnwatched is Recheck, but for the folders, and the files in them, that are watched
// since before they were read: see [Options].Ahead.
func (s *Scanner) RecheckUnwatched(ctx context.Context) (*skills.Catalog, error) {
	return s.recheck(ctx, func(m *memory) *sync.Map { return m.watched })
}

func (s *Scanner) recheck(ctx context.Context, trusted func(*memory) *sync.Map) (*skills.Catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return s.scan(ctx, nil, time.Time{})
	}
	began := time.Now()
	catalog, err := s.rescan(ctx, s.last.changed(trusted(s.last)))
	if err == nil {
		s.last.looked = began
	}
	return catalog, err
}

// maxScans bounds the scans of one request while workspaces are being replaced.
const maxScans = 5

// scan reads the roots, except for folders and candidates in before; nil reads
// all. See read for until. It scans again if the trust in a workspace has changed meanwhile: the files that
// were read may be those of another folder than the trusted one.
func (s *Scanner) scan(ctx context.Context, before *memory, until time.Time) (*skills.Catalog, error) {
	s.last = nil
	for range maxScans {
		m, err := s.read(ctx, before, until)
		if err != nil {
			return nil, err
		}
		if s.sameTrust(m) {
			s.last = m
			return m.catalog, nil
		}
		before = nil
	}
	return nil, errors.New("scan workspaces: they are being replaced all the time")
}

// read is one scan. It reads no skill once the time until is over; zero is never.
func (s *Scanner) read(ctx context.Context, before *memory, until time.Time) (*memory, error) {
	b, m := newBuilder(), newMemory(before)
	m.ahead = s.options.Ahead
	b.problems = slices.Clone(s.options.Problems)
	switch {
	case before != nil:
		b.cache, before.cache = before.cache, nil
	case s.options.Cache != nil:
		b.cache = s.options.Cache()
	}
	defer b.release()
	roots, trusted := s.rankRoots()
	m.trusted, b.places = trusted, roots
	for _, root := range roots {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		files := &rootReader{root: root, builder: b, memory: m}
		walker := &walker{rootReader: files, ctx: ctx, options: s.options, seen: map[[2]string]bool{}, before: before, ahead: map[string]listing{}}
		found := &finder{rootReader: files, walker: walker}
		r := &rootScan{rootReader: files, finder: found, plugins: &pluginReader{rootReader: files, finder: found, skip: map[string]bool{}}}
		r.scan()
		m.add(root, files.root)
	}
	b.load(ctx, s.options, before, until)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.take(b.candidates)
	if m.partial {
		m.cache, b.cache = b.cache, nil
	}
	m.catalog = b.catalog()
	return m, nil
}

// rankRoots asks which workspaces are trusted, and returns the roots in the order of
// their priority: those in workspaces that are not trusted come last.
func (s *Scanner) rankRoots() (roots []Root, trusted map[string]bool) {
	roots, trusted = slices.Clone(s.roots), map[string]bool{}
	for i := range roots {
		r := &roots[i]
		if r.Within == "" || s.options.Trusted == nil {
			continue
		}
		if _, asked := trusted[r.Within]; !asked && r.exists() {
			trusted[r.Within] = s.options.Trusted(r.Within)
		}
	}
	for i := range roots {
		roots[i].trusted = trusted[roots[i].Within]
	}
	slices.SortStableFunc(roots, func(a, b Root) int {
		switch {
		case a.untrusted() == b.untrusted():
			return 0
		case b.untrusted():
			return -1
		}
		return 1
	})
	return roots, trusted
}

// sameTrust reports whether the workspaces that a scan trusted still are the trusted
// ones.
func (s *Scanner) sameTrust(m *memory) bool {
	_, trusted := s.rankRoots()
	return maps.Equal(trusted, m.trusted)
}

// Scan reads the roots, which come in order of priority, into a new catalog.
// A root that does not exist is fine. Options may be nil. A scan that ctx ends
// early returns the cause.
func Scan(ctx context.Context, roots []Root, options *Options) (*skills.Catalog, error) {
	return NewScanner(roots, options).Scan(ctx)
}

// A rootScan reads one root into the builder.
type rootScan struct {
	*rootReader
	finder  *finder
	plugins *pluginReader
}

func (s *rootScan) scan() {
	if s.root.FS == nil {
		if err := s.open(); err != nil {
			s.reject(s.root.String(), err)
			return
		}
	}
	if s.finder.packedRoot() {
		return
	}
	s.hold()
	defer s.finder.walker.reportBounds()
	_, err := fs.Stat(s.root.FS, ".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.reject(s.root.String(), err)
	case s.root.Plugins:
		s.finder.walker.walk(".", 0, s.plugins.visit)
		if s.root.Named && !s.plugins.found {
			s.problem(skills.Problem{Severity: skills.Error, Path: s.root.String(), Message: "there is no plugin in it", Remedy: "name a folder with .claude-plugin/plugin.json, or folders of such; folders of skills are named with --skills"})
		}
	case s.root.Commands:
		s.finder.markdownIn(".", ".", "", 0, s.finder.command)
	case s.root.Agents:
		s.finder.markdownIn(".", ".", "", 0, s.finder.agent)
	default:
		s.finder.skills(".")
	}
}
