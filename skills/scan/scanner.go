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
	return s.scan(ctx, nil)
}

// Rescan returns the same catalog as [Scanner.Scan], provided that since the last
// scan only files at or below paths have changed. These are absolute, and lead to
// a root as that was given, or without links; others do not matter. The trust in
// workspaces may have changed, too. The catalog shares the skills that did not change with the one before.
func (s *Scanner) Rescan(ctx context.Context, paths []string) (*skills.Catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return s.scan(ctx, nil)
	}
	changed, simple := s.last.locate(paths)
	if !simple {
		return s.scan(ctx, nil)
	}
	if len(changed) == 0 && s.sameTrust(s.last) {
		return s.last.catalog, nil
	}
	before := s.last
	before.forget(changed)
	catalog, err := s.scan(ctx, before)
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

// Recheck returns the same catalog as [Scanner.Scan]: it reads again what has changed
// since the last scan began, or shortly before, by the times of all that it read.
func (s *Scanner) Recheck(ctx context.Context) (*skills.Catalog, error) {
	s.mu.Lock()
	if s.last == nil || s.last.moved() {
		defer s.mu.Unlock()
		return s.scan(ctx, nil)
	}
	paths := s.last.changed()
	s.mu.Unlock()
	return s.Rescan(ctx, paths)
}

// maxScans bounds the scans of one request while workspaces are being replaced.
const maxScans = 5

// scan reads the roots, except for folders and candidates in before; nil reads
// all. It scans again if the trust in a workspace has changed meanwhile: the files that
// were read may be those of another folder than the trusted one.
func (s *Scanner) scan(ctx context.Context, before *memory) (*skills.Catalog, error) {
	s.last = nil
	for range maxScans {
		m, err := s.read(ctx, before)
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

// read is one scan.
func (s *Scanner) read(ctx context.Context, before *memory) (*memory, error) {
	b, m := newBuilder(), newMemory()
	b.problems = slices.Clone(s.options.Problems)
	if s.options.Cache != nil && before == nil {
		b.cache = s.options.Cache()
	}
	defer b.release()
	roots, trusted := s.rankRoots()
	m.trusted = trusted
	for _, root := range roots {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		files := &rootReader{root: root, builder: b, memory: m}
		walker := &walker{rootReader: files, ctx: ctx, options: s.options, seen: map[string]bool{}, before: before, ahead: map[string]listing{}}
		r := &rootScan{&pluginReader{finder: &finder{walker}, skip: map[string]bool{}}}
		r.scan()
		m.add(root, r.root)
	}
	b.load(ctx, s.options, before)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.take(b.candidates)
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
type rootScan struct{ *pluginReader }

func (s *rootScan) scan() {
	if s.root.FS == nil {
		if err := s.open(); err != nil {
			s.reject(s.root.String(), err)
			return
		}
	}
	if s.packedRoot() {
		return
	}
	s.hold()
	defer s.reportBounds()
	_, err := fs.Stat(s.root.FS, ".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.reject(s.root.String(), err)
	case s.root.Plugins:
		s.walk(".", 0, s.visitPlugin)
		if s.root.Named && !s.found {
			s.problem(skills.Problem{Severity: skills.Error, Path: s.root.String(), Message: "there is no plugin in it", Remedy: "name a folder with .claude-plugin/plugin.json, or folders of such; folders of skills are named with --skills"})
		}
	case s.root.Commands:
		s.markdownIn(".", ".", "", 0, s.command)
	case s.root.Agents:
		s.markdownIn(".", ".", "", 0, s.agent)
	default:
		s.skills(".")
	}
}

func (s *rootScan) visitPlugin(dir string, entries []fs.DirEntry) (enter bool) {
	if s.skip[dir] || isManifestFolder(dir) {
		return false
	}
	if at := findMarketplace(s.root, dir, entries); at != "" {
		s.found = true
		if s.marketplace(dir, at) {
			return false
		}
	}
	manifest := findManifest(s.root.FS, dir, entries)
	if manifest == "" {
		return true
	}
	s.found = true
	if s.countManifest(dir) {
		s.plugin(dir, manifest, nil)
	}
	return false
}
