package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The bounds of polling. One interval costs some milliseconds; the more folders are
// polled, the longer the cycle through all of them.
const (
	pollEvery   = time.Second
	pollLooks   = 4096
	maxPolled   = 10_000 // entries read of one folder
	clockOfFile = 2 * time.Second
)

// A poller polls the folders without a watch, in turns. It is part of the tree.
type poller struct {
	folders map[string]*polled // by path, without links
	turns   []turn             // the next one first; some are no longer polled
	looks   int                // bound of each interval, exceeded by one folder at most
}

// A turn is a folder in the queue.
type turn struct {
	path   string
	folder *polled
}

// polled is the state of a folder at the last poll.
type polled struct {
	self    seen
	entries map[string]seen
}

// seen is the state of a file or folder at a poll; the zero value is a missing one.
type seen struct {
	mode     fs.FileMode
	size     int64
	modified time.Time
	fresh    bool // it changed so lately that another change may not show
}

// same reports whether nothing can have changed.
func (s seen) same(now seen) bool {
	return !s.fresh && s.mode == now.mode && s.size == now.size && s.modified.Equal(now.modified)
}

func newPoller() *poller { return &poller{folders: map[string]*polled{}, looks: pollLooks} }

// add begins to poll a folder. Later changes are reported.
func (p *poller) add(path string) {
	if p.folders[path] != nil {
		return
	}
	f := &polled{self: lookAt(path)}
	f.entries = f.read(path)
	p.folders[path] = f
	p.turns = append(p.turns, turn{path, f})
}

func (p *poller) remove(path string) { delete(p.folders, path) }

// poll polls the folders that are due. The batch has their changes.
func (p *poller) poll() (b batch, looked []string) {
	b = batch{ops: map[string]fsnotify.Op{}}
	budget := p.looks
	for turns := len(p.turns); turns > 0 && budget > 0; turns-- {
		next := p.turns[0]
		p.turns = p.turns[1:]
		if p.folders[next.path] != next.folder {
			continue
		}
		p.turns = append(p.turns, next)
		budget -= 1 + len(next.folder.entries)
		next.folder.look(next.path, b.ops)
		looked = append(looked, next.path)
	}
	return b, looked
}

// look adds the changes in the folder since the last poll to ops.
func (f *polled) look(path string, ops map[string]fsnotify.Op) {
	self := lookAt(path)
	if f.self.same(self) {
		f.lookAtEntries(path, ops)
		return
	}
	before := f.entries
	f.self, f.entries = self, f.read(path)
	for name, was := range before {
		compare(filepath.Join(path, name), was, f.entries[name], ops)
	}
	for name, is := range f.entries {
		if _, known := before[name]; !known {
			compare(filepath.Join(path, name), seen{}, is, ops)
		}
	}
}

// lookAtEntries compares the known entries: the folder has no others.
func (f *polled) lookAtEntries(path string, ops map[string]fsnotify.Op) {
	for name, was := range f.entries {
		is := lookAt(filepath.Join(path, name))
		compare(filepath.Join(path, name), was, is, ops)
		f.entries[name] = is
	}
}

// compare adds the operation of an equivalent event to ops.
func compare(path string, was, is seen, ops map[string]fsnotify.Op) {
	switch {
	case was.mode.Type() != is.mode.Type() || (was.modified.IsZero() != is.modified.IsZero()):
		ops[path] |= fsnotify.Create // or removed: either is to be looked at
	case was.same(is):
	case was.mode != is.mode:
		ops[path] |= fsnotify.Chmod
		fallthrough
	case !is.mode.IsDir():
		ops[path] |= fsnotify.Write
	}
}

// read returns the state of the folder's entries.
func (f *polled) read(path string) map[string]seen {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	all := make(map[string]seen, len(entries))
	for _, entry := range entries[:min(len(entries), maxPolled)] {
		all[entry.Name()] = lookAt(filepath.Join(path, entry.Name()))
	}
	return all
}

func lookAt(path string) seen {
	info, err := os.Lstat(path)
	if err != nil {
		return seen{}
	}
	modified := info.ModTime()
	return seen{info.Mode(), info.Size(), modified, time.Since(modified).Abs() < clockOfFile}
}

// A deaf notifier replaces one that the system refused: it refuses every folder.
type deaf struct {
	err    error
	events chan fsnotify.Event // closed by Close
}

func (d deaf) Add(string) error    { return d.err }
func (d deaf) Remove(string) error { return nil }
func (d deaf) WatchList() []string { return nil }
func (d deaf) Close() error        { close(d.events); return nil }
