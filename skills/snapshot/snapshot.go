// Package snapshot keeps copies of skills' folders, by what is in them: what a
// sandbox mounts does not change while it runs, and is what its digest says.
//
// Start with [New]; [Store.Take] is called for each run.
package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Limits of one skill's folder. A larger one is refused.
const (
	MaxFiles = 20_000
	MaxBytes = 256 << 20
)

// Bounds of a store. A snapshot in use counts, and stays.
const (
	unused    = 7 * 24 * time.Hour // from the last use to removal
	maxEach   = 8                  // snapshots of one skill
	maxTotal  = 2 << 30            // bytes of all
	sweepTime = time.Hour          // between two sweeps, whichever process makes them
	// grace extends every lease: a call may wait for its turn, and a container for
	// the next call.
	grace = time.Hour
)

// A Store keeps snapshots below one host folder, which it shares with other
// processes.
type Store struct {
	dir   string
	total int64 // bytes

	mu    sync.Mutex
	swept time.Time // when this process last looked whether to sweep
	// whole are the snapshots, by path, that this process has made or has
	// checked. Others may have been damaged since they were made.
	whole map[string]bool
}

// New returns a store below dir, an absolute path, which is created when
// needed.
func New(dir string) *Store { return &Store{dir: dir, total: maxTotal, whole: map[string]bool{}} }

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

// Take returns a snapshot of what fsys holds now. Left out are .git folders,
// links that lead out of fsys, names that are no UTF-8, and what is neither file,
// folder nor link. Files that were written a moment ago are waited for, as
// somebody may be about to write the rest.
func (s *Store) Take(ctx context.Context, fsys fs.FS, use Use) (*Snapshot, error) {
	snapshot, err := s.take(ctx, fsys, use)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	s.sweep()
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

// maxTries bounds the copies of a folder that others change meanwhile.
const maxTries = 3

// errChanged says that a file was written while it was read.
var errChanged = errors.New("changed while it was read")

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

// ofPrefix begins the name of the folder that holds a skill's snapshots.
const ofPrefix = "of-"

// lease marks a snapshot as in use, by its time, which another use may have set
// to a later one.
func (u Use) lease(dir string) error {
	info, err := os.Lstat(dir)
	if until := time.Now().Add(u.Lease); err == nil && info.ModTime().Before(until) {
		err = os.Chtimes(dir, until, until)
	}
	return err
}

// find returns the snapshot with a digest where there is a whole one.
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
	s.keep(dir)
	return &Snapshot{dir, digest}
}

func (s *Store) keep(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole[dir] = true
}

// check reports whether the folder dir still holds what its digest says.
func check(ctx context.Context, dir, digest string) bool {
	fsys := skillfs.DirFS(dir)
	tree, err := list(fsys)
	if err != nil {
		return false
	}
	found, err := tree.digest(ctx, fsys, nil)
	return err == nil && found == digest
}

// make copies the tree aside and then moves the copy to its place, where it is
// seen whole or not at all. Its digest is that of the copy, whatever has happened
// to the original meanwhile. It fails with errChanged where that is not the
// expected digest, read before.
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
	s.keep(dir)
	return &Snapshot{dir, digest}, use.lease(dir)
}

// place moves a copy to its name. Where another process was first, its copy
// stays, unless it is damaged.
func (s *Store) place(ctx context.Context, aside, dir, digest string) error {
	err := os.Rename(aside, dir)
	if err == nil || check(ctx, dir, digest) {
		return nil
	}
	if gone := s.discard(dir); gone != nil {
		return errors.Join(err, gone)
	}
	return os.Rename(aside, dir)
}

const asidePrefix = ".aside-"

// discard removes a snapshot; at no time is half of it in its place.
func (s *Store) discard(dir string) error {
	aside, err := os.MkdirTemp(s.dir, asidePrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	return os.Rename(dir, filepath.Join(aside, "gone"))
}

// writer writes copies of files below a folder.
type writer struct{ dir string }

func (w *writer) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// create makes a file; others may read it, whatever the umask says.
func (w *writer) create(name string, executable bool) (io.WriteCloser, error) {
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	file, err := os.OpenFile(w.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	if err := file.Chmod(mode); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func (w *writer) mkdir(name string) error {
	if err := os.Mkdir(w.path(name), 0o755); err != nil {
		return err
	}
	return os.Chmod(w.path(name), 0o755)
}

func (w *writer) link(name, target string) error {
	return os.Symlink(filepath.FromSlash(target), w.path(name))
}
