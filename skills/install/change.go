package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// A change has the lock of a target, and moves the folders of its entries: see
// [change.make].
type change struct {
	*lock.Lock
	target Target
	layout layout
	kept   []string // host paths
	shared error    // why skills-lock.json was not changed; set by make
	fail   func(step string) error
}

// exists reports whether there is something at a path, be it a link to nothing.
func (c *change) exists(name string) bool {
	_, err := c.Root().Lstat(filepath.FromSlash(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// digest returns the digest of a folder, and "" if it is none or cannot be read.
func (c *change) digest(ctx context.Context, name string) string {
	if info, err := c.Root().Lstat(filepath.FromSlash(name)); err != nil || !info.IsDir() {
		return ""
	}
	digest, err := snapshot.Digest(ctx, skillfs.Sub(skillfs.DirFS(c.target.Dir), name))
	if err != nil {
		return ""
	}
	return digest
}

// rename moves a folder, and makes the folders above its new path.
func (c *change) rename(from, to string) error {
	if err := c.Root().MkdirAll(filepath.FromSlash(path.Dir(to)), 0o755); err != nil {
		return err
	}
	return c.Root().Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

// syncAll makes the disk have the entries of folders, which need not exist.
func (c *change) syncAll(dirs []string) error {
	for _, dir := range dirs {
		if err := lock.SyncFolder(c.Root(), dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeAll removes a folder, also one whose owner may not write to it.
func removeAll(root *os.Root, name string) error {
	name = filepath.FromSlash(name)
	if err := root.RemoveAll(name); err == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), filepath.ToSlash(name), func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(filepath.FromSlash(at), 0o700)
		}
		return nil
	})
	return root.RemoveAll(name)
}
