package install

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// maxSyncs bounds the files that are synchronized at the same time: a file system writes
// several in the time of one.
const maxSyncs = 16

// syncTree makes the disk have a folder of root with all that is in it.
func syncTree(ctx context.Context, root *os.Root, dir string) error {
	var all sync.WaitGroup
	slots, failed := make(chan struct{}, maxSyncs), make(chan error, 1)
	err := fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return firstError(err, context.Cause(ctx))
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := syncOne(root, name, d.IsDir()); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
		return nil
	})
	all.Wait()
	select {
	case broken := <-failed:
		return broken
	default:
		return err
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func syncOne(root *os.Root, name string, folder bool) error {
	if folder {
		return lock.SyncFolder(root, name)
	}
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
