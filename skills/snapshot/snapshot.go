// Package snapshot keeps copies of skills' folders, by what is in them: what a
// sandbox mounts does not change while it runs, and is what its digest says.
//
// Start with [New]; [Store.Take] is called for each run.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Limits of one skill's folder. A larger one is refused.
const (
	MaxFiles = 20_000
	MaxBytes = 256 << 20
)

// unused is how long a snapshot is kept that nobody takes.
const unused = 7 * 24 * time.Hour

// A Store keeps snapshots below one host folder, which it shares with other
// processes.
type Store struct {
	dir   string
	sweep sync.Once

	mu sync.Mutex
	// whole are the digests of snapshots that this process has made or has
	// checked. Others may have been damaged since they were made.
	whole map[string]bool
}

// New returns a store below dir, an absolute path, which is created when
// needed.
func New(dir string) *Store { return &Store{dir: dir, whole: map[string]bool{}} }

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
// folder nor link.
func (s *Store) Take(ctx context.Context, fsys fs.FS) (*Snapshot, error) {
	fsys, release, err := skills.Hold(fsys)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	defer release()
	tree, err := list(fsys)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	digest, err := tree.digest(ctx, fsys, nil)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	s.sweep.Do(s.removeUnused)
	if snapshot := s.find(ctx, digest); snapshot != nil {
		return snapshot, nil
	}
	snapshot, err := s.make(ctx, fsys, tree)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	return snapshot, nil
}

// Digest returns the digest that a snapshot of fsys would have.
func Digest(ctx context.Context, fsys fs.FS) (string, error) {
	fsys, release, err := skills.Hold(fsys)
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

func (s *Store) path(digest string) string {
	return filepath.Join(s.dir, digest[len("sha256:"):])
}

// find returns the snapshot with a digest where there is a whole one.
func (s *Store) find(ctx context.Context, digest string) *Snapshot {
	dir := s.path(digest)
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil { // marks it as used
		return nil
	}
	s.mu.Lock()
	whole := s.whole[digest]
	s.mu.Unlock()
	if !whole && !check(ctx, dir, digest) {
		return nil
	}
	s.keep(digest)
	return &Snapshot{dir, digest}
}

func (s *Store) keep(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole[digest] = true
}

// check reports whether the folder dir still holds what its digest says.
func check(ctx context.Context, dir, digest string) bool {
	fsys := skills.DirFS(dir)
	tree, err := list(fsys)
	if err != nil {
		return false
	}
	found, err := tree.digest(ctx, fsys, nil)
	return err == nil && found == digest
}

// make copies the tree aside and then moves the copy to its place, where it is
// seen whole or not at all. Its digest is that of what was copied, whatever
// has happened to the original meanwhile.
func (s *Store) make(ctx context.Context, fsys fs.FS, tree tree) (*Snapshot, error) {
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
	dir := s.path(digest)
	if err := s.place(ctx, aside, dir, digest); err != nil {
		return nil, err
	}
	s.keep(digest)
	return &Snapshot{dir, digest}, nil
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

// removeUnused removes what was not taken for a long time, and what a process
// that died has left. Errors cost disk space only.
func (s *Store) removeUnused() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < unused {
			continue
		}
		_ = s.discard(filepath.Join(s.dir, entry.Name()))
	}
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
