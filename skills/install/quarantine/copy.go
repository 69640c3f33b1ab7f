package quarantine

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Copy copies a host folder into the quarantine. It leaves out .git, and does not
// follow links out of the folder.
func (f *Folder) Copy(ctx context.Context, dir string) error {
	from, err := skillfs.DirFS(dir).Hold()
	if err != nil {
		return err
	}
	defer from.Close()
	return fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == ".":
			return nil
		case isGit(e.Name()) && e.IsDir():
			return fs.SkipDir
		case isGit(e.Name()):
			return nil
		}
		return f.copyEntry(ctx, from, name, e.Type())
	})
}

// copyEntry copies one entry of a host folder.
func (f *Folder) copyEntry(ctx context.Context, from skillfs.Dir, name string, kind fs.FileMode) error {
	switch {
	case kind.IsDir():
		return f.mkdir(name)
	case kind&fs.ModeSymlink != 0:
		target, err := from.ReadLink(name)
		if err != nil {
			return err
		}
		return f.Link(name, inside(from.Path(), name, target))
	case !kind.IsRegular():
		return errSpecial(name)
	}
	file, err := skillfs.OpenRegular(from, name)
	var special *skillfs.NotRegularError
	switch {
	case errors.As(err, &special):
		return errSpecial(name)
	case err != nil:
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return f.Create(name, info.Mode()&0o111 != 0, &skillfs.ContextReader{Context: ctx, Reader: file})
}

// inside returns the target of a link as one relative to its folder, where it is an
// absolute path in dir.
func inside(dir, name, target string) string {
	if rel, ok := strings.CutPrefix(target, dir+string(filepath.Separator)); ok {
		return strings.Repeat("../", strings.Count(name, "/")) + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(target)
}
