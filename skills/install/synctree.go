package install

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// maxSyncs bounds the files that are synchronized at the same time: a file system writes
// several in the time of one.
const maxSyncs = 16

// syncTree makes the disk have a folder of root with all that is in it.
func syncTree(ctx context.Context, root *os.Root, dir string) error {
	var syncs []func() error
	err := fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || ctx.Err() != nil:
			return firstError(err, context.Cause(ctx))
		case d.IsDir():
			syncs = append(syncs, func() error { return lock.SyncFolder(root, name) })
		case d.Type().IsRegular():
			syncs = append(syncs, func() error { return syncFile(root, name) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parallel(len(syncs), maxSyncs, func(i int) error { return syncs[i]() })
}

func syncFile(root *os.Root, name string) error {
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
