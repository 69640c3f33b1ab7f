package watch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A plan lists all that a watcher watches: the roots as they were found, with the folders and
// links in them. The same folder on disk has a path for each way that leads to it. Paths
// are as in [Change], those on disk have no links in them.
type plan struct {
	folders map[string]set            // paths of each folder on disk
	steps   map[string]map[string]set // roots and links that are followed through an entry, by its folder on disk and its name
	found   map[string]string         // the folder on disk of each path; "" for a link to a file, or to a folder that is not entered
	gaps    map[string]error          // why a path is not watched
}

// A set is a set of paths.
type set map[string]struct{}

// covers reports whether a folder above path is in s.
func (s set) covers(path string) bool {
	for {
		dir := filepath.Dir(path)
		if dir == path {
			return false
		}
		if _, ok := s[dir]; ok {
			return true
		}
		path = dir
	}
}

func newPlan() *plan {
	return &plan{folders: map[string]set{}, steps: map[string]map[string]set{}, found: map[string]string{}, gaps: map[string]error{}}
}

// watches reports whether a folder on disk is to be watched.
func (p *plan) watches(path string) bool { return p.folders[path] != nil || p.steps[path] != nil }

// step adds that path is followed through l.
func (p *plan) step(l lookup, path string) {
	if p.steps[l.dir] == nil {
		p.steps[l.dir] = map[string]set{}
	}
	if p.steps[l.dir][l.name] == nil {
		p.steps[l.dir][l.name] = set{}
	}
	p.steps[l.dir][l.name][path] = struct{}{}
}

// touch adds to touched the paths of a path on disk, without those that neither p nor
// other has found: a root that is still missing, after a folder on the way to it appeared
// or vanished.
func (p *plan) touch(touched set, path string, other *plan) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	for folder := range p.folders[dir] {
		if !scan.Skip(name) {
			touched[filepath.Join(folder, name)] = struct{}{}
		}
	}
	maps.Copy(touched, p.folders[path])
	users := set{}
	maps.Copy(users, p.steps[dir][name])
	for _, through := range p.steps[path] {
		maps.Copy(users, through)
	}
	for user := range users {
		_, was := p.found[user]
		if _, is := other.found[user]; was || is {
			touched[user] = struct{}{}
		}
	}
}

// compare adds to touched the paths that lead elsewhere by the next plan, and those
// that are watched by it alone: what changed there before was no event.
func (p *plan) compare(touched set, next *plan) {
	for path, real := range p.found {
		if now, found := next.found[path]; !found || now != real {
			touched[path] = struct{}{}
		}
		_, gap := p.gaps[path]
		if _, still := next.gaps[path]; gap && !still {
			touched[path] = struct{}{}
		}
	}
	for path := range next.found {
		if _, found := p.found[path]; !found {
			touched[path] = struct{}{}
		}
	}
}

// enter adds the folder f.
func (p *plan) enter(f *folder) {
	if p.folders[f.real] == nil {
		p.folders[f.real] = set{}
	}
	p.folders[f.real][f.path] = struct{}{}
}

// A planner makes the plan of one root. It watches each folder before it reads it: so a
// new entry is either read, or an event later.
type planner struct {
	*plan
	options Options
	arm     func(folder string) error         // watches a folder on disk
	known   func(folder string) []fs.DirEntry // see [Watcher.Begin]; may be nil
	root    *folder
	below   int // folders and links
}

// A folder is a root, or a folder or a link below one.
type folder struct {
	up    *folder // nil for a root
	path  string
	real  string // on disk; "" if it is no folder to watch
	depth int    // 0 for a root
}

// add adds the root at path.
func (p *planner) add(path string) {
	p.root = &folder{path: path}
	p.track(p.root, top(path), path)
	// Level by level, so that a limit is spent on what is near the root.
	for level := []*folder{p.root}; len(level) > 0; level = level[1:] {
		level = append(level, p.open(level[0])...)
	}
}

// open watches f and returns the folders and links in it.
func (p *planner) open(f *folder) []*folder {
	if f.real == "" {
		return nil
	}
	p.enter(f)
	if err := p.arm(f.real); err != nil {
		p.gap(f.path, err)
	}
	var entries []fs.DirEntry
	if p.known != nil {
		entries = p.known(f.real)
	}
	if entries == nil {
		var err error
		if entries, err = os.ReadDir(f.real); err != nil {
			p.gap(f.path, err)
		}
	}
	var children []*folder
	for _, entry := range entries {
		if child := p.attach(f, entry); child != nil {
			children = append(children, child)
		}
	}
	return children
}

// attach returns the folder or link that an entry is, or nil if it is something else or
// not to be watched.
func (p *planner) attach(up *folder, entry fs.DirEntry) *folder {
	name, link := entry.Name(), entry.Type()&fs.ModeSymlink != 0
	f := &folder{up: up, path: filepath.Join(up.path, name), real: filepath.Join(up.real, name), depth: up.depth + 1}
	tooDeep := f.depth > p.options.Depth
	if !link && (!entry.IsDir() || tooDeep) || scan.Skip(name) {
		return nil
	}
	if p.below >= p.options.Folders {
		p.gap(p.root.path, ErrFolders)
		return nil
	}
	p.below++
	if !link {
		p.found[f.path] = f.real
		return f
	}
	f.real = ""
	p.track(f, up.real, name)
	if tooDeep || f.loops() || !skillfs.Inside(p.root.real, f.real) {
		// A change of its target is still noticed. A stranger's link, to / perhaps, must
		// not cost watches at every start; the scanner does not follow such links either.
		f.real = ""
	}
	if _, found := p.found[f.path]; found {
		p.found[f.path] = f.real
	}
	return f
}

// loops reports whether f, a link, leads to a folder that f itself lies in.
func (f *folder) loops() bool {
	for up := f.up; up != nil; up = up.up {
		if skillfs.Inside(f.real, up.real) {
			return true
		}
	}
	return false
}

// maxTries bounds the attempts to follow a path that keeps changing. Giving up is
// safe: the last change is an event by then.
const maxTries = 5

// track follows path, relative to dir, to f and watches every step. A step may
// change before it is watched, so track repeats until two trails are the same.
func (p *planner) track(f *folder, dir, path string) {
	var last trail
	var unwatched error // of the last step: those further up seldom change, and are often not readable
	for range maxTries {
		next := follow(dir, path)
		if last.lookups != nil && last.same(&next) {
			break
		}
		last, unwatched = next, nil
		for _, l := range next.watched() {
			unwatched = p.arm(l.dir)
		}
	}
	for _, l := range last.watched() {
		p.step(l, f.path)
	}
	if last.folder {
		f.real = last.real
	}
	if last.err == nil {
		p.found[f.path] = f.real
	}
	switch {
	case last.folder:
	case errors.Is(last.err, fs.ErrPermission):
		p.gap(f.path, last.err)
	case unwatched != nil:
		p.gap(f.path, unwatched)
	}
}

// gap adds that path is not watched because of err. A missing path is no gap: the watch on
// its parent reports it when it appears.
func (p *plan) gap(path string, err error) {
	if !missing(err) {
		p.gaps[path] = err
	}
}
