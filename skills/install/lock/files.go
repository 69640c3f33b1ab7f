package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Files returns the state of each file and link of a folder, for [State.Files]. What is
// neither a file nor a folder nor a link has the zero state, and so has a folder .git,
// which no installation has: what is in it is left out.
func Files(ctx context.Context, folder fs.FS) (map[string]FileState, error) {
	all, buffer := map[string]FileState{}, make([]byte, 64<<10)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir() && d.Name() == ".git":
			all[name] = FileState{}
			return fs.SkipDir
		case d.IsDir():
			return nil
		case len(all) == maxFiles:
			return fmt.Errorf("there are more than %d files", maxFiles)
		}
		all[name], err = stateOf(ctx, folder, name, d, buffer)
		return err
	})
	return all, err
}

// maxRead bounds the bytes that are read of one file. No installed file has more: so it
// differs by its size.
const maxRead = 256 << 20

func stateOf(ctx context.Context, folder fs.FS, name string, d fs.DirEntry, buffer []byte) (FileState, error) {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(folder, name)
		return FileState{Link: filepath.ToSlash(target)}, err
	case !d.Type().IsRegular():
		return FileState{}, nil
	}
	file, err := skillfs.OpenRegular(folder, name)
	if err != nil {
		return FileState{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return FileState{}, err
	}
	sum := sha256.New()
	size, err := io.CopyBuffer(sum, io.LimitReader(&skillfs.ContextReader{Context: ctx, Reader: file}, maxRead+1), buffer)
	return FileState{Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: size, Executable: info.Mode()&0o111 != 0}, err
}
