package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sweptMark is the file whose time says when any process last swept.
const sweptMark = ".swept"

// sweep removes snapshots beyond the bounds, at most once in sweepTime. Errors cost
// disk space only.
func (s *Store) sweep() {
	now := time.Now()
	s.mu.Lock()
	due := now.Sub(s.swept) >= sweepTime
	if due {
		s.swept = now
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

// A kept is a snapshot on the disk.
type kept struct {
	dir  string
	used time.Time // up to when it is or was in use
}

// remove removes snapshots: those that nobody has used for long, all but the
// newest of each skill, and then the oldest of all until the rest is small
// enough. What is in use stays.
func (s *Store) remove(now time.Time) {
	var all []kept
	for _, entry := range entries(s.dir) {
		if !strings.HasPrefix(filepath.Base(entry.dir), ofPrefix) { // of an earlier version, or left by a process that died
			s.removeUnused(now, entry)
			continue
		}
		if entry.idle(now) { // no snapshot is about to be put there
			_ = os.Remove(entry.dir) // refused where there are any
		}
		of := entries(entry.dir)
		for i, k := range of {
			if i >= maxEach && k.idle(now) {
				_ = s.discard(k.dir)
			} else if !s.removeUnused(now, k) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, newest)
	left := s.total
	for _, k := range all {
		if left -= size(k.dir); left < 0 && k.idle(now) {
			_ = s.discard(k.dir)
		}
	}
}

func (k kept) idle(now time.Time) bool { return now.Sub(k.used) > grace }

func (s *Store) removeUnused(now time.Time, k kept) bool {
	return now.Sub(k.used) > unused && s.discard(k.dir) == nil
}

func newest(a, b kept) int { return b.used.Compare(a.used) }

// entries returns the folders in one, the newest first.
func entries(dir string) []kept {
	list, _ := os.ReadDir(dir)
	var all []kept
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && entry.IsDir() {
			all = append(all, kept{filepath.Join(dir, entry.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, newest)
	return all
}

// size returns the bytes of the files below dir, with a block for each entry.
func size(dir string) int64 {
	const block = 4096
	var bytes int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		bytes += block
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
