package install

import (
	"crypto/rand"
	"errors"
	"os"
	"path"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A work is the folder of one plan. Other processes see by its lock that the plan lives.
type work struct {
	name  string   // slash-separated in the target's folder
	dir   string   // absolute host path
	root  *os.Root // of the target; closed by close
	guard *flock.Flock
}

// guardFile is locked as long as its plan lives.
const guardFile = "alive"

// newWork makes the folder of a plan. The caller closes it.
func (c *change) newWork() (*work, error) {
	name := path.Join(c.layout.state, workDir, rand.Text())
	if err := c.Root().MkdirAll(filepath.FromSlash(name), 0o700); err != nil {
		return nil, err
	}
	root, err := c.Root().OpenRoot(".")
	if err != nil {
		return nil, err
	}
	w := &work{name, c.target.host(name), root, nil}
	w.guard = flock.New(filepath.Join(w.dir, guardFile))
	if _, err := w.guard.TryLock(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// below returns the path in the target's folder of a host path in the work's.
func (w *work) below(host string) string {
	rel, err := filepath.Rel(w.dir, host)
	if err != nil || !skillfs.Inside(w.dir, host) {
		panic("a quarantine lies elsewhere: " + host)
	}
	return path.Join(w.name, filepath.ToSlash(rel))
}

func (w *work) close() error {
	err := w.guard.Close()
	return errors.Join(err, removeAll(w.root, w.name), w.root.Close())
}

// abandoned reports whether the process of a plan has ended. The caller holds the lock of
// the target, so no plan begins.
func (c *change) abandoned(name string) bool {
	alive := path.Join(c.layout.state, workDir, name, guardFile)
	if info, err := c.Root().Lstat(filepath.FromSlash(alive)); err != nil || !info.Mode().IsRegular() {
		return true
	}
	guard := flock.New(c.target.host(alive))
	locked, err := guard.TryLock()
	return errors.Join(err, guard.Close()) == nil && locked
}
