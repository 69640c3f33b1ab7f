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
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Store keeps snapshots below one host folder, which it shares with other
// processes.
type Store struct {
	dir     string
	sweeper *sweeper

	mu sync.Mutex
	// whole holds the paths of the snapshots that this process has made or
	// checked. Others may have been damaged since they were made. Guarded by mu.
	whole map[string]bool
}

// New returns a store below dir, an absolute path, which [Store.Take] creates.
func New(dir string) *Store {
	return &Store{dir: dir, sweeper: newSweeper(dir), whole: map[string]bool{}}
}

// A Use is the purpose of a snapshot.
type Use struct {
	// Skill is the same for all snapshots of one skill; it is never shown.
	Skill string
	// Lease is the duration of the use.
	Lease time.Duration
}

// A Snapshot is a copy of a skill's folder that nobody changes.
type Snapshot struct {
	// Dir is its absolute host path. Every user may read what is in it.
	Dir string
	// Digest is "sha256:" and 64 hexadecimal digits, over the paths, contents
	// and executable bits of all files.
	Digest string
}

// Take returns a snapshot of the current content of fsys. It omits .git folders,
// links that lead out of fsys, names that are not UTF-8, and entries other than
// files, folders and links. After a very recent write it waits, at most a second,
// because the rest may follow.
func (s *Store) Take(ctx context.Context, fsys fs.FS, use Use) (*Snapshot, error) {
	snapshot, err := s.take(ctx, fsys, use)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	s.sweeper.sweep()
	return snapshot, nil
}

func (s *Store) take(ctx context.Context, fsys fs.FS, use Use) (*Snapshot, error) {
	fsys, release, err := skillfs.Hold(fsys)
	if err != nil {
		return nil, err
	}
	defer release()
	for range maxTries - 1 {
		snapshot, err := s.tryTake(ctx, fsys, use)
		if !errors.Is(err, errChanged) {
			return snapshot, err
		}
	}
	return s.tryTake(ctx, fsys, use)
}

// maxTries bounds the attempts to copy a folder that others change meanwhile.
const maxTries = 3

func (s *Store) tryTake(ctx context.Context, fsys fs.FS, use Use) (*Snapshot, error) {
	tree, err := settled(ctx, fsys)
	if err != nil {
		return nil, err
	}
	digest, err := tree.digest(ctx, fsys, nil)
	if err != nil {
		return nil, err
	}
	if snapshot := s.find(ctx, use, digest); snapshot != nil {
		return snapshot, nil
	}
	return s.make(ctx, fsys, tree, use, digest)
}

// Digest returns the digest that a snapshot of fsys would have.
func Digest(ctx context.Context, fsys fs.FS) (string, error) {
	fsys, release, err := skillfs.Hold(fsys)
	if err != nil {
		return "", fmt.Errorf("digest files: %w", err)
	}
	defer release()
	tree, err := list(fsys)
	if err != nil {
		return "", fmt.Errorf("digest files: %w", err)
	}
	return tree.digest(ctx, fsys, nil)
}

func (s *Store) path(use Use, digest string) string {
	skill := sha256.Sum256([]byte(use.Skill))
	return filepath.Join(s.dir, ofPrefix+hex.EncodeToString(skill[:8]), digest[len("sha256:"):])
}

// lease extends a snapshot's lease, which is its modification time. A later one, of
// another use, stays.
func (u Use) lease(dir string) error {
	info, err := os.Lstat(dir)
	if until := time.Now().Add(u.Lease); err == nil && info.ModTime().Before(until) {
		err = os.Chtimes(dir, until, until)
	}
	return err
}

// find returns the snapshot with a digest, nil if there is none or it is damaged.
func (s *Store) find(ctx context.Context, use Use, digest string) *Snapshot {
	dir := s.path(use, digest)
	if use.lease(dir) != nil {
		return nil
	}
	s.mu.Lock()
	whole := s.whole[dir]
	s.mu.Unlock()
	if !whole && !check(ctx, dir, digest) {
		return nil
	}
	s.markWhole(dir)
	return &Snapshot{dir, digest}
}

func (s *Store) markWhole(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole[dir] = true
}

// check reports whether the folder dir still has its digest.
func check(ctx context.Context, dir, digest string) bool {
	fsys := skillfs.DirFS(dir)
	tree, err := list(fsys)
	if err != nil {
		return false
	}
	found, err := tree.digest(ctx, fsys, nil)
	return err == nil && found == digest
}

// make copies the tree to a temporary folder and renames that to its final path, so
// that it appears whole or not at all. The digest is computed from the copied
// bytes; if it is not the expected one, which was read before, the error is
// errChanged.
func (s *Store) make(ctx context.Context, fsys fs.FS, tree tree, use Use, expected string) (*Snapshot, error) {
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
	digest, err := tree.digest(ctx, fsys, &writer{aside})
	if err != nil {
		return nil, err
	}
	if digest != expected {
		return nil, fmt.Errorf("a file has %w", errChanged)
	}
	dir := s.path(use, digest)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := s.place(ctx, aside, dir, digest); err != nil {
		return nil, err
	}
	s.markWhole(dir)
	return &Snapshot{dir, digest}, use.lease(dir)
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
