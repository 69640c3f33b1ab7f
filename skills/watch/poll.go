package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// What polling may cost: so many looks at files in each interval, which is some
// milliseconds. A folder's turn comes the later, the more folders are polled.
const (
	pollEvery   = time.Second
	pollLooks   = 4096
	maxPolled   = 10_000 // entries of one folder that are looked at
	clockOfFile = 2 * time.Second
)

// A poller looks at folders that the system gives no watch for, in turns. It is
// part of the tree.
type poller struct {
	folders map[string]*polled // by path, without links
	turns   []turn             // the next one first; some are no longer polled
	looks   int                // at most in each interval, and one folder more
}

// A turn is a folder's to be looked at.
type turn struct {
	path   string
	folder *polled
}

// polled is a folder as it was at the last look.
type polled struct {
	self    seen
	entries map[string]seen
}

// seen is a file or folder as it was at a look; the zero value is one that was
// not there.
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

// add begins to poll a folder. What changes from now on is told.
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

// poll looks at the folders whose turn it is. The batch has what changed.
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

// look adds what changed in the folder since the last look.
func (f *polled) look(path string, ops map[string]fsnotify.Op) {
	self := lookAt(path)
	if f.self.same(self) {
		f.lookAtEntries(path, ops)
		return
	}
	before := f.entries
	f.self, f.entries = self, f.read(path)
	for name, was := range before {
		tell(filepath.Join(path, name), was, f.entries[name], ops)
	}
	for name, is := range f.entries {
		if _, known := before[name]; !known {
			tell(filepath.Join(path, name), seen{}, is, ops)
		}
	}
}

// lookAtEntries looks at those that there were: there are no others.
func (f *polled) lookAtEntries(path string, ops map[string]fsnotify.Op) {
	for name, was := range f.entries {
		is := lookAt(filepath.Join(path, name))
		tell(filepath.Join(path, name), was, is, ops)
		f.entries[name] = is
	}
}

// tell adds what an event would say.
func tell(path string, was, is seen, ops map[string]fsnotify.Op) {
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

// read looks at what is in the folder.
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

// A deaf notifier is one where the system gives none: it refuses every folder.
type deaf struct {
	err    error
	events chan fsnotify.Event // closed by Close
}

func (d deaf) Add(string) error    { return d.err }
func (d deaf) Remove(string) error { return nil }
func (d deaf) WatchList() []string { return nil }
func (d deaf) Close() error        { close(d.events); return nil }
