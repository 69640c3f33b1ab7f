package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// Bounds of a store. A snapshot in use counts, and stays.
const (
	unused    = 7 * 24 * time.Hour // from the last use to removal
	maxEach   = 8                  // snapshots of one skill
	maxTotal  = 2 << 30            // bytes of all
	sweepTime = time.Hour          // between two sweeps, whichever process makes them
	// grace extends every lease: a call may wait in the queue, and a container for
	// the next call.
	grace = time.Hour
)

// The names of a store's folders begin with one of these.
const (
	ofPrefix    = "of-"     // the snapshots of one skill
	asidePrefix = ".aside-" // a snapshot that is being made or removed
)

// sweptMark is the file whose modification time is that of the last sweep of any
// process.
const sweptMark = ".swept"

// A sweeper removes snapshots that exceed the bounds of a store.
type sweeper struct {
	dir   string // of the store
	total int64  // bytes

	mu   sync.Mutex
	last time.Time // when this process last checked whether a sweep is due
}

// sweep removes snapshots that exceed the bounds, at most once in sweepTime. It
// ignores errors, which cost disk space only.
func (s *sweeper) sweep() {
	now := time.Now()
	s.mu.Lock()
	due := now.Sub(s.last) >= sweepTime
	if due {
		s.last = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	mark := filepath.Join(s.dir, sweptMark)
	if info, err := os.Stat(mark); err == nil && now.Sub(info.ModTime()).Abs() < sweepTime {
		return
	}
	if os.WriteFile(mark, nil, 0o600) == nil && os.Chtimes(mark, now, now) == nil {
		s.remove(now)
	}
}

// A stored is a folder of the store: a snapshot, or all of one skill.
type stored struct {
	dir    string
	leased time.Time // end of its last lease
}

// remove removes snapshots: those unused for long, all but the newest of each
// skill, and then the oldest of all until the rest is within the bound. Leased
// snapshots stay.
func (s *sweeper) remove(now time.Time) {
	var all []stored
	for _, entry := range entries(s.dir) {
		if !strings.HasPrefix(filepath.Base(entry.dir), ofPrefix) { // of an earlier version, or left by a process that died
			s.removeUnused(now, entry)
			continue
		}
		if entry.idle(now) { // no snapshot is about to be put there
			_ = os.Remove(entry.dir) // fails unless it is empty
		}
		of := entries(entry.dir)
		for i, k := range of {
			if i >= maxEach && k.idle(now) {
				_ = discard(s.dir, k.dir)
			} else if !s.removeUnused(now, k) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, newest)
	left, counted := s.total, counter{}
	for _, k := range all {
		if left -= counted.of(k.dir); left < 0 && k.idle(now) {
			_ = discard(s.dir, k.dir)
		}
	}
}

func (k stored) idle(now time.Time) bool { return now.Sub(k.leased) > grace }

func (s *sweeper) removeUnused(now time.Time, k stored) bool {
	return now.Sub(k.leased) > unused && discard(s.dir, k.dir) == nil
}

func newest(a, b stored) int { return b.leased.Compare(a.leased) }

// entries returns the folders in dir, the newest first.
func entries(dir string) []stored {
	list, _ := os.ReadDir(dir)
	var all []stored
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && entry.IsDir() {
			all = append(all, stored{filepath.Join(dir, entry.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, newest)
	return all
}

// A counter counts files by device and inode: snapshots of one skill share files.
type counter map[[2]uint64]bool

// of returns the bytes of the files below dir that were not counted yet, plus a block
// for each entry.
func (c counter) of(dir string) int64 {
	const block = 4096
	var bytes int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		bytes += block
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil && c.first(stamp.Of(info)) {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

func (c counter) first(s stamp.Stamp) bool {
	id := [2]uint64{s.Dev, s.Ino}
	again := c[id] && s.Ino != 0 // 0: the system has none
	c[id] = true
	return !again
}

// discard removes the snapshot dir of a store. It renames it first, so that no
// partial snapshot is ever visible.
func discard(store, dir string) error {
	aside, err := os.MkdirTemp(store, asidePrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	return os.Rename(dir, filepath.Join(aside, "gone"))
}
