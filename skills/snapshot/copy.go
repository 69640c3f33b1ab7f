package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// errChanged is the error of a file that was written while it was read.
var errChanged = errors.New("changed while it was read")

// digest returns the digest of the tree's entries. In the same pass it copies them
// with w, unless that is nil.
func (t tree) digest(ctx context.Context, fsys fs.FS, w *writer) (string, error) {
	all := sha256.New()
	for _, e := range t {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		content, err := e.copy(fsys, w)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%c %d:%s %d:%s\n", e.kind, len(e.name), e.name, len(content), content)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}

// copy copies the entry, unless w is nil, and returns its contribution to the
// digest: the target of a link, the hash of a file.
func (e entry) copy(fsys fs.FS, w *writer) (content string, err error) {
	switch e.kind {
	case folder:
		if w != nil {
			return "", w.mkdir(e.name)
		}
		return "", nil
	case link:
		if w != nil {
			return e.target, w.link(e.name, e.target)
		}
		return e.target, nil
	}
	sum := sha256.New()
	if err := e.copyFile(fsys, w, sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// copyFile reads a file of the listed size. Anything that replaced it meanwhile, or
// that others write to it, must neither block nor fill the disk.
func (e entry) copyFile(fsys fs.FS, w *writer, sum hash.Hash) error {
	source, err := skillfs.OpenRegular(fsys, e.name)
	if err != nil {
		return err
	}
	defer source.Close()
	if w == nil {
		return e.copyBytes(sum, source)
	}
	copied, err := w.create(e.name, e.kind == executable)
	if err != nil {
		return err
	}
	err = e.copyBytes(io.MultiWriter(sum, copied), source)
	if closeErr := copied.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (e entry) copyBytes(to io.Writer, from io.Reader) error {
	n, err := io.Copy(to, io.LimitReader(from, e.size+1))
	if err == nil && n != e.size {
		err = fmt.Errorf("%s has %w", e.name, errChanged)
	}
	return err
}

// writer writes copies of files below a folder.
type writer struct{ dir string }

func (w *writer) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

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

func (w *writer) link(name, target string) error {
	return os.Symlink(filepath.FromSlash(target), w.path(name))
}
