// Package snapshot stores immutable copies of skills' folders by digest, so that
// the content that a sandbox mounts is the content that was approved.
//
// Start with [New]; call [Store.Take] for each run.
package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// A Store keeps snapshots below one host folder, which it shares with other
// processes.
type Store struct {
	dir     string
	sweeper *sweeper
	memory  *memory
	now     func() time.Time // the clock of stamps; tests set it

	mu sync.Mutex
	// whole holds the paths of the snapshots that this process has made or checked,
	// and when. Others may have been damaged since they were made. Guarded by mu.
	whole map[string]time.Time
}

// New returns a store below dir, an absolute path, which [Store.Take] creates.
func New(dir string) *Store {
	return &Store{dir: dir, sweeper: &sweeper{dir: dir, total: maxTotal}, memory: newMemory(), now: time.Now, whole: map[string]time.Time{}}
}

// Take returns a snapshot of the current content of fsys. It omits .git folders,
// links that lead out of fsys, names that are not UTF-8, and entries other than
// files, folders and links.
//
// It compares the stamps of a folder, or a package, of the host with those of the
// skill's last snapshot: one system call for each entry. It lists the folder and reads
// files only where they differ, or were written so lately that another write may not
// show.
//
// After a very recent write, and while a process has a file open that it has just
// written, it waits, because the rest may follow: at most settleTimeout.
func (s *Store) Take(ctx context.Context, fsys fs.FS, use Use) (*Snapshot, error) {
	snapshot, err := s.take(ctx, fsys, use)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	s.memory.taken(use.Skill)
	s.sweeper.sweep()
	return snapshot, nil
}

// Renew makes the snapshot of a skill whose files have changed, so that the next
// [Store.Take] finds it. It does nothing unless the last one was taken since the last
// Renew: a file that is written all the time costs one copy for each call.
func (s *Store) Renew(ctx context.Context, fsys fs.FS, use Use) error {
	if !s.memory.renew(use.Skill) {
		return nil
	}
	if _, err := s.take(ctx, fsys, use); err != nil {
		return fmt.Errorf("renew snapshot: %w", err)
	}
	return nil
}

func (s *Store) take(ctx context.Context, fsys fs.FS, use Use) (*Snapshot, error) {
	at, ok := placeOf(fsys)
	if !ok {
		return s.retake(ctx, fsys, use, nil)
	}
	began := time.Now()
	known, last := s.memory.of(use.Skill)
	if last.current(at) && use.lease(last.Dir) == nil {
		return &last.Snapshot, nil
	}
	if err := known.begin(ctx); err != nil {
		return nil, err
	}
	defer known.end()
	if _, last = s.memory.of(use.Skill); last.since(began, at) && use.lease(last.Dir) == nil {
		return &last.Snapshot, nil // that of another call
	}
	if r := last.recheck(fsys, s.now); r != nil && use.lease(r.Dir) == nil {
		s.memory.put(known, r)
		return &r.Snapshot, nil
	}
	return s.retake(ctx, fsys, use, last)
}

// maxTries bounds the attempts to copy a folder that others change meanwhile.
const maxTries = 20

// retake returns a snapshot of files that may differ from those of the last, which
// may be nil.
func (s *Store) retake(ctx context.Context, fsys fs.FS, use Use, last *record) (*Snapshot, error) {
	began := time.Now()
	for try := 1; ; try++ {
		final := try == maxTries || time.Since(began) >= settleTimeout
		snapshot, err := s.tryTake(ctx, fsys, use, attempt{last, began, final})
		if final || !errors.Is(err, errChanged) {
			return snapshot, err
		}
		if err := sleep(ctx, writerPoll); err != nil {
			return nil, err
		}
	}
}

// An attempt is one of several to make a snapshot.
type attempt struct {
	last  *record // of the skill; nil for none
	began time.Time
	final bool // files that others write all the time are taken as they are
}

func (s *Store) tryTake(ctx context.Context, fsys fs.FS, use Use, a attempt) (*Snapshot, error) {
	source, err := openSource(fsys, s.now)
	if err != nil {
		return nil, err
	}
	defer source.close()
	snapshot, tree, err := s.copy(ctx, source, use, a)
	switch {
	case err == nil:
		s.remember(use, source, tree, record{Snapshot: *snapshot, looked: source.listed})
	case errors.Is(err, fs.ErrNotExist): // a listed file is gone
		err = fmt.Errorf("a file has %w: %w", errChanged, err)
	}
	return snapshot, err
}

// copy returns a snapshot of a source, with the tree that it was made from.
func (s *Store) copy(ctx context.Context, from *source, use Use, a attempt) (*Snapshot, tree, error) {
	tree, err := from.settled(ctx, a.last, a.began)
	if err != nil {
		return nil, nil, err
	}
	if err := from.sum(ctx, tree); err != nil {
		return nil, nil, err
	}
	digest := tree.digest()
	if dir := s.Find(ctx, use, digest); dir != "" {
		return &Snapshot{dir, digest}, tree, from.verify(tree, a)
	}
	snapshot, err := s.make(ctx, from, tree, use, a)
	return snapshot, tree, err
}

// verify returns errChanged if an entry has changed since the tree was listed.
func (s *source) verify(t tree, a attempt) error {
	if s.folder == nil || a.final || s.watched(t).unchanged(s.folder) {
		return nil
	}
	return fmt.Errorf("the folder has %w", errChanged)
}

// remember completes the record of a snapshot and keeps it, if its files are on the host.
func (s *Store) remember(use Use, from *source, t tree, r record) {
	if from.folder == nil {
		return
	}
	r.at, r.tree, r.watched = from.at, t, from.watched(t)
	r.certain = r.watched.certain()
	known, _ := s.memory.of(use.Skill)
	s.memory.put(known, &r)
}

// Digest returns the digest that a snapshot of fsys would have.
func Digest(ctx context.Context, fsys fs.FS) (string, error) {
	t, err := read(ctx, fsys)
	return t.digest(), err
}

// Changes returns the names of the files that differ between the snapshot in the folder dir
// and another one of the same skill, which has a digest, sorted; none if that one is gone.
func Changes(ctx context.Context, dir, digest string) (names []string) {
	now, err := read(ctx, skillfs.DirFS(dir))
	was, gone := read(ctx, skillfs.DirFS(filepath.Join(filepath.Dir(dir), strings.TrimPrefix(digest, "sha256:"))))
	if err != nil || gone != nil {
		return nil
	}
	sides := map[string]int{} // lines of both have the sum 0
	for i, t := range []tree{now, was} {
		for j := range t {
			if e := &t[j]; e.kind != folder {
				sides[string(e.kind)+e.content()+"\x00"+e.name] += 1 - 2*i
			}
		}
	}
	for line, side := range sides {
		if side != 0 {
			names = append(names, line[strings.IndexByte(line, 0)+1:])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// read returns the tree of fsys with the sums of its files.
func read(ctx context.Context, fsys fs.FS) (tree, error) {
	source, err := openSource(fsys, time.Now)
	if err != nil {
		return nil, fmt.Errorf("digest files: %w", err)
	}
	defer source.close()
	t, err := source.list(nil)
	if err != nil {
		return nil, fmt.Errorf("digest files: %w", err)
	}
	return t, source.sum(ctx, t)
}

func (s *Store) path(use Use, digest string) string {
	skill := sha256.Sum256([]byte(use.Skill))
	return filepath.Join(s.dir, ofPrefix+hex.EncodeToString(skill[:8]), digest[len("sha256:"):])
}

// Find returns the host path of the snapshot with a digest, "" if there is none or it is
// damaged.
func (s *Store) Find(ctx context.Context, use Use, digest string) (dir string) {
	dir = s.path(use, digest)
	if use.lease(dir) != nil {
		return ""
	}
	if now := time.Now(); s.wholeSince(dir).IsZero() {
		if !check(ctx, dir, digest) {
			return ""
		}
		s.markWhole(dir, now)
	}
	return dir
}

// wholeSince returns the time at which this process knew that a snapshot was whole, or
// the zero time.
func (s *Store) wholeSince(dir string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole[dir]
}

func (s *Store) markWhole(dir string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole[dir] = at
}

// check reports whether the folder dir still has its digest.
func check(ctx context.Context, dir, digest string) bool {
	found, err := Digest(ctx, skillfs.DirFS(dir))
	return err == nil && found == digest
}

// make writes the tree to a temporary folder and renames that to its final path, so
// that it appears whole or not at all. It reads the files that it copies once more;
// the error is errChanged if one is not as it was.
func (s *Store) make(ctx context.Context, from *source, tree tree, use Use, a attempt) (*Snapshot, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(s.dir, asidePrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(aside)
	if err := os.Chmod(aside, 0o755); err != nil {
		return nil, err
	}
	if err := s.write(ctx, aside, from, tree, a); err != nil {
		return nil, err
	}
	if err := from.verify(tree, a); err != nil {
		return nil, err
	}
	digest, now := tree.digest(), time.Now()
	dir := s.path(use, digest)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := s.place(ctx, aside, dir, digest); err != nil {
		return nil, err
	}
	s.markWhole(dir, now)
	return &Snapshot{dir, digest}, use.lease(dir)
}

// write writes the tree below dir, with links to the last snapshot.
func (s *Store) write(ctx context.Context, dir string, from *source, tree tree, a attempt) error {
	w := &writer{dir: dir}
	if a.last != nil {
		if last, err := stamp.OpenFolder(a.last.Dir); err == nil {
			defer last.Close()
			w.last, w.lastDir, w.known, w.whole = last, a.last.Dir, a.last.byName(), s.wholeSince(a.last.Dir).UnixNano()
		}
	}
	return w.write(ctx, from, tree)
}

// place renames a copy to its final path. If another process was first, its copy
// stays, unless it is damaged.
func (s *Store) place(ctx context.Context, aside, dir, digest string) error {
	err := os.Rename(aside, dir)
	if err == nil || check(ctx, dir, digest) {
		return nil
	}
	if gone := discard(s.dir, dir); gone != nil {
		return errors.Join(err, gone)
	}
	return os.Rename(aside, dir)
}
