// Package watch reports the files under a set of folders that have changed, once
// they have settled.
//
// Start with [New] and [Watcher.Begin].
//
// It watches folders that exist, folders that appear later, and the targets of
// symbolic links inside of a root. It is level-triggered: a [Change] names paths
// that may have changed and never how, so the receiver reads them again and
// compares. A report of an unchanged path is allowed and rare; a missing report of
// a changed one is a bug, or a [Gap].
//
// # Changes
//
// Creating, writing, removing and renaming files, folders and links counts, at
// the path itself and, for a link, at its target. So does a change of
// mode, because it can make a file readable or executable; other changes of
// metadata (times, extended attributes, link counts) do not. The kernel does
// not distinguish the two, so the first one at a path is reported and later
// ones only if the mode differs from then.
//
// # Cost
//
// One watch per folder, and none per file (kqueue takes a file descriptor per
// file all the same). A file edit reads no folder. When folders or links come, go or
// change, those of all roots are read again: 20 ms of processor time for 1,000 skills.
//
// Where the system's limit of watches, or of watchers, is reached, the receiver has to
// look for changes in the folders left over: see [Watcher.Limited].
//
// # How it works
//
// Three goroutines pass values on, each ending when the one before it does:
//
//	fsnotify ─▶ intake ─▶ tree ─▶ settle ─▶ Changes
//
// intake merges events so that the kernel's queue is always drained, tree keeps
// the watches in step with the folders and turns events into paths, settle
// waits for quiet.
//
// # Limits
//
// Unnoticed are changes on file systems that send no events (network mounts, parts
// of FUSE); changes made through a second mount of a folder that is watched through
// the first; a change of owner that repeats a mode already seen; folders that are
// Windows junctions. With kqueue, renaming a folder above the parent of a root
// goes unnoticed, because watching every ancestor would open all their files.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A Watcher watches folders until it is closed. Its methods may be called from
// any goroutine.
type Watcher struct {
	source  notifier
	options Options
	tree    *tree       // of the goroutine that began, and before that guarded by early
	batches chan batch  // closed by intake
	changes chan Change // closed by settle, after Close
	running sync.WaitGroup

	early sync.Mutex
	begun bool // guarded by early

	closing  sync.Once
	closeErr error // written in closing
}

// New opens a watcher that watches nothing yet: see [Watcher.Ahead] and [Watcher.Begin].
//
// The error is that the system has no watchers at all. The caller must call
// [Watcher.Close].
func New(options *Options) (*Watcher, error) {
	source, err := fsnotify.NewWatcher()
	if limit := asLimit(err, instanceRemedy); errors.Is(limit, ErrLimit) {
		d := deaf{limit, make(chan fsnotify.Event)}
		return start(d, d.events, nil, options.withDefaults()), nil
	}
	if err != nil {
		return nil, fmt.Errorf("watch folders: %w", asLimit(err, instanceRemedy))
	}
	return start(source, source.Events, source.Errors, options.withDefaults()), nil
}

// start runs a watcher on source, which must close events when it is closed. With some
// back ends adding a watch waits for events to be received.
func start(source notifier, events <-chan fsnotify.Event, errs <-chan error, o Options) *Watcher {
	w := &Watcher{source: source, options: o, tree: newTree(source, o), batches: make(chan batch), changes: make(chan Change)}
	w.running.Go(func() { intake(events, errs, w.batches, o.Logger) })
	return w
}

// Ahead watches a folder, an absolute path without links, and reports whether it is
// watched. Whoever reads the folder after that misses no change: those until Begin are
// reported then, if the folder lies in a root. After Begin it watches nothing.
func (w *Watcher) Ahead(folder string) bool {
	w.early.Lock()
	defer w.early.Unlock()
	return !w.begun && w.tree.arm(folder) == nil
}

// Begin watches roots and everything below them. A root is an absolute path; it
// need not exist yet, may be a symbolic link, may lie in another root, and may
// be given twice. Begin is called once.
//
// When Begin returns, all existing folders are watched: a caller that reads the roots
// after it misses no change. It reads every folder below the roots, but for those whose
// entries known returns: they were read after a call of Ahead. known may be nil.
//
// The error is about an argument. Folders that cannot be watched are no error; see
// [Watcher.Gaps].
func (w *Watcher) Begin(roots []string, known func(folder string) []fs.DirEntry) error {
	roots, err := cleanRoots(roots)
	if err != nil {
		return err
	}
	w.early.Lock()
	w.begun = true
	w.early.Unlock()
	w.tree.begin(roots, known)
	touched := make(chan []string) // closed by the goroutine of the tree
	w.running.Go(func() { w.tree.run(w.batches, touched) })
	w.running.Go(func() { settle(touched, w.changes, roots, w.options.quiet, w.options.maxDelay) })
	return nil
}

// Changes returns a channel with one value per settled burst, closed by
// [Watcher.Close] after [Watcher.Begin]. Values that are not received merge into the next; the watcher
// never waits for the receiver.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Gaps returns the folders that should be watched and are not, sorted by path. The
// list varies as folders appear and vanish: call Gaps again after each [Change].
func (w *Watcher) Gaps() []Gap { return w.tree.gaps.list() }

// Limited reports whether folders have no watch because of [ErrLimit].
func (w *Watcher) Limited() bool { return w.tree.gaps.limited() }

// Close stops the watcher and waits for its goroutines. Unsettled changes are not
// reported. A second Close does nothing and returns the same.
func (w *Watcher) Close() error {
	w.closing.Do(func() {
		w.closeErr = w.source.Close()
		w.running.Wait()
	})
	return w.closeErr
}

// cleanRoots returns roots as clean paths without duplicates, in order.
func cleanRoots(roots []string) ([]string, error) {
	var clean []string
	for _, root := range roots {
		if !filepath.IsAbs(root) {
			return nil, fmt.Errorf("watch %q: %w", root, errNotAbsolute)
		}
		if root = filepath.Clean(root); !slices.Contains(clean, root) {
			clean = append(clean, root)
		}
	}
	return clean, nil
}

var errNotAbsolute = errors.New("path is not absolute")

// A deaf notifier replaces one that the system refused: it refuses every folder.
type deaf struct {
	err    error
	events chan fsnotify.Event // closed by Close
}

func (d deaf) Add(string) error    { return d.err }
func (d deaf) Remove(string) error { return nil }
func (d deaf) WatchList() []string { return nil }
func (d deaf) Close() error        { close(d.events); return nil }
