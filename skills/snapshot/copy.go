package snapshot

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// A writer writes a snapshot below a folder.
type writer struct {
	dir string

	// The last snapshot of the skill, whose files are linked where they are the same.
	last    *stamp.Folder // nil for none
	lastDir string
	known   map[string]*entry
	whole   int64 // when it was known to be whole, in ns since 1970
}

// write writes the entries of a tree whose sums are known. Its error is errChanged if
// the content has changed since they were computed.
func (w *writer) write(ctx context.Context, s *source, t tree) error {
	for i := range t {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e := &t[i]
		var err error
		switch {
		case e.name == ".":
		case e.kind == folder:
			err = w.mkdir(e.name)
		case e.kind == link:
			err = os.Symlink(filepath.FromSlash(e.target), w.path(e.name))
		case !w.linked(e):
			err = w.copy(s, *e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// linked links a file of the last snapshot, if that has the same and nobody has written
// to it. It may fail: the file system may have no links, or the file too many, or a
// sweep removed the snapshot.
func (w *writer) linked(e *entry) bool {
	was := w.known[e.name]
	if was == nil || was.kind != e.kind || was.sum != e.sum {
		return false
	}
	copied, err := w.last.Look(e.name)
	return err == nil && copied.Modified <= w.whole && copied.Size == was.stamp.Size &&
		os.Link(filepath.Join(w.lastDir, filepath.FromSlash(e.name)), w.path(e.name)) == nil
}

func (w *writer) copy(s *source, e entry) error {
	copied, err := w.create(e.name, e.kind == executable)
	if err != nil {
		return err
	}
	expected := e.sum
	err = s.copy(&e, copied)
	if closeErr := copied.Close(); err == nil {
		err = closeErr
	}
	if err == nil && e.sum != expected {
		err = fmt.Errorf("%s has %w", e.name, errChanged)
	}
	return err
}

// create creates a file that every user may read, regardless of the umask.
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
