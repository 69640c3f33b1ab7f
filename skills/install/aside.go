package install

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// discard removes the files of a version that are as they were installed, and moves the
// others to keptDir: somebody else has written them. A version that is not there is fine.
func (c *change) discard(ctx context.Context, dir, entry string, state *lock.State) error {
	if !c.exists(dir) {
		return nil
	}
	if info, err := c.Root().Lstat(filepath.FromSlash(dir)); err == nil && info.IsDir() {
		c.strip(ctx, dir, state)
		if c.bare(dir) {
			return removeAll(c.Root(), dir)
		}
	}
	return c.keep(dir, path.Base(entry))
}

// strip removes the files of a version from a folder, and then empty folders.
func (c *change) strip(ctx context.Context, dir string, state *lock.State) {
	sub, err := c.Root().OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return
	}
	defer sub.Close()
	found, err := lock.Files(ctx, sub.FS())
	if err != nil {
		return
	}
	for name, file := range found {
		if was, ours := state.Files[name]; ours && equal(was, file) {
			_ = sub.Remove(filepath.FromSlash(name))
		}
	}
	var folders []string
	_ = fs.WalkDir(sub.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != "." {
			folders = append(folders, name)
		}
		return nil
	})
	for i := len(folders) - 1; i >= 0; i-- {
		_ = sub.Remove(filepath.FromSlash(folders[i])) // fails unless it is empty
	}
}

// bare reports whether a folder has nothing in it.
func (c *change) bare(dir string) bool {
	entries, err := fs.ReadDir(c.Root().FS(), dir)
	return err == nil && len(entries) == 0
}

// maxKept bounds the folders of one name in keptDir.
const maxKept = 1000

// keep moves a folder to keptDir, under a name that is free.
func (c *change) keep(dir, name string) error {
	for n := range maxKept {
		to := path.Join(c.layout.state, keptDir, name)
		if n > 0 {
			to += fmt.Sprintf("-%d", n+1)
		}
		if c.exists(to) {
			continue
		}
		if err := c.rename(dir, to); err != nil {
			return err
		}
		c.kept = append(c.kept, c.target.host(to))
		return nil
	}
	return fmt.Errorf("there are %d folders like %s; remove those that you do not need", maxKept, c.target.host(path.Join(c.layout.state, keptDir, name)))
}
