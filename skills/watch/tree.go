package watch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"

	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A tree keeps the watches in step with the folders on disk. After a change of folders or
// links it plans all anew. One goroutine uses it at a time: that of New, then that of run.
type tree struct {
	source  notifier
	options Options
	gaps    *gaps
	roots   []string
	plan    *plan
	armed   set                               // the folders on disk that the notifier watches
	known   func(folder string) []fs.DirEntry // see [Watcher.Begin]; nil once they are watched
	modes   map[string]fs.FileMode            // by path on disk; see modeChanged
}

// newTree returns a tree without roots.
func newTree(source notifier, o Options) *tree {
	return &tree{source: source, options: o, gaps: &gaps{log: o.Logger}, plan: newPlan(), armed: set{}, modes: map[string]fs.FileMode{}}
}

// begin watches the roots.
func (t *tree) begin(roots []string, known func(folder string) []fs.DirEntry) {
	t.roots, t.known = roots, known
	t.rebuild()
}

// run applies batches and sends the touched paths, until batches is closed; then
// it closes touched.
func (t *tree) run(batches <-chan batch, touched chan<- []string) {
	defer close(touched)
	for b := range batches {
		if paths := t.apply(b); len(paths) > 0 {
			touched <- paths
		}
	}
}

// apply updates the watches by a batch and returns the touched paths.
func (t *tree) apply(b batch) []string {
	touched := set{}
	if b.overflow {
		clear(t.modes)
		t.end(slices.Collect(maps.Keys(t.armed)))
		t.rebuild()
		return t.roots
	}
	if moved := t.interpret(touched, b.ops); len(moved) > 0 {
		before := t.plan
		t.disarm(moved)
		t.rebuild()
		for _, path := range moved {
			before.touch(touched, path, t.plan)
			t.plan.touch(touched, path, before)
		}
		before.compare(touched, t.plan)
	}
	return slices.Collect(maps.Keys(touched))
}

// interpret adds the paths of changed files to touched, and returns the paths on disk
// at which folders or links may have come, gone or changed.
func (t *tree) interpret(touched set, ops map[string]fsnotify.Op) (moved []string) {
	for path, op := range ops {
		structural := op.Has(fsnotify.Create) || op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)
		if structural {
			delete(t.modes, path)
		}
		switch {
		case structural || op.Has(fsnotify.Chmod) && t.modeChanged(path):
			if t.concerns(path) {
				moved = append(moved, path)
			} else {
				t.plan.touch(touched, path, t.plan)
			}
		case op.Has(fsnotify.Write) && !t.plan.watches(path):
			// Some systems call it a write to a folder when an entry of it changes: that
			// entry has an event of its own.
			t.plan.touch(touched, path, t.plan)
		}
	}
	return moved
}

// concerns reports whether an event at a path on disk may change the plan.
func (t *tree) concerns(path string) bool {
	if t.plan.watches(path) {
		return true
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	info, err := os.Lstat(path)
	if t.plan.folders[dir] != nil && err == nil && info.Mode()&(fs.ModeDir|fs.ModeSymlink) != 0 && !scan.Skip(name) {
		return true
	}
	for user := range t.plan.steps[dir][name] {
		// A file that takes the place of a file changes nothing.
		if real, found := t.plan.found[user]; !found || real != "" || err != nil || !info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// rebuild plans the roots anew, watches what is to be watched, and ends the other watches.
func (t *tree) rebuild() {
	t.forgetLost()
	for range maxTries {
		t.plan = newPlan()
		for _, root := range t.roots {
			p := &planner{plan: t.plan, options: t.options, arm: t.arm, known: t.known}
			p.add(root)
		}
		t.known = nil
		if !t.endUnused() || !t.forgetLost() {
			break
		}
	}
	t.gaps.replace(t.plan.gaps)
}

// endUnused ends the watches that the plan does not need, and reports whether there were
// any.
func (t *tree) endUnused() bool {
	var unused []string
	for path := range t.armed {
		if !t.plan.watches(path) {
			unused = append(unused, path)
		}
	}
	t.end(unused)
	return len(unused) > 0
}

// arm watches a folder on disk.
func (t *tree) arm(path string) error {
	if _, armed := t.armed[path]; armed {
		return nil
	}
	err := asLimit(t.source.Add(path), watchRemedy)
	if err == nil {
		t.armed[path] = struct{}{}
	}
	return err
}

// disarm ends the watches at and below paths: they may be on the folders that were there
// before. All end before one begins, or the notifier would mistake the watch of a folder
// that has replaced another for the other's, and end it.
func (t *tree) disarm(paths []string) {
	gone := set{}
	for _, path := range paths {
		gone[path] = struct{}{}
	}
	var ended []string
	for path := range t.armed {
		if _, ok := gone[path]; ok || gone.covers(path) {
			ended = append(ended, path)
		}
	}
	t.end(ended)
}

// end ends watches.
func (t *tree) end(paths []string) {
	for _, path := range paths {
		delete(t.armed, path)
		// An error means that the folder is gone, and its watch with it.
		_ = t.source.Remove(path)
	}
}

// forgetLost forgets the watches that ended with another, and reports whether there are any.
//
// The system has one watch per folder, not per path. A folder that was moved,
// and found at its new path before the event that it left the old one, shares
// the watch of the old path, and loses it with that.
func (t *tree) forgetLost() (lost bool) {
	has := set{}
	for _, path := range t.source.WatchList() {
		has[path] = struct{}{}
	}
	for path := range t.armed {
		if _, ok := has[path]; !ok {
			delete(t.armed, path)
			lost = true
		}
	}
	return lost
}

// maxModes bounds the recorded modes. Clearing them costs one needless report of
// each path.
const maxModes = 8192

// modeChanged reports whether the mode of path differs from that at the last call,
// and true on the first.
func (t *tree) modeChanged(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		// On Linux a removal is a change of attributes too.
		return !errors.Is(err, fs.ErrNotExist)
	}
	if len(t.modes) >= maxModes {
		clear(t.modes)
	}
	before, known := t.modes[path]
	t.modes[path] = info.Mode()
	return !known || before != info.Mode()
}
