package skillsext

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// The size of a skill that every host must accept (SEP-2640, "Limits").
const (
	maxFiles = 512
	maxBytes = 16 << 20
)

// An item is a file of a folder.
type item struct {
	name string
	info fs.FileInfo
}

// tree returns the files of a skill's folder, as snapshots for calls have them: regular
// files and links to files inside, without .git folders and names that are no UTF-8.
// Links to folders are not followed. excess reports that the limits are exceeded; items
// are nil then.
func tree(ctx context.Context, files fs.FS) (items []item, excess bool, err error) {
	var bytes int64
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == ".":
			return nil
		case !served(d.Name()) && d.IsDir():
			return fs.SkipDir
		case !served(d.Name()), d.IsDir():
			return nil
		}
		info, err := fileInfo(files, name, d)
		if err != nil || info == nil {
			return err
		}
		items = append(items, item{name, info})
		bytes += info.Size()
		if len(items) > maxFiles || bytes > maxBytes {
			excess = true
			return fs.SkipAll
		}
		return nil
	})
	if excess {
		items = nil
	}
	return items, excess, err
}

// served reports whether an entry of this name is served. Some systems do not distinguish
// .GIT from .git.
func served(name string) bool { return !strings.EqualFold(name, ".git") && utf8.ValidString(name) }

// fileInfo returns the state of an entry's file, following a link; nil if it is no file.
func fileInfo(files fs.FS, name string, d fs.DirEntry) (fs.FileInfo, error) {
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = fs.Stat(files, name); err != nil {
			return nil, nil // it leads out, or nowhere
		}
	}
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	return info, nil
}

// look returns the state of the file or folder at a path, by the rules of tree.
func look(files fs.FS, name string) (fs.FileInfo, error) {
	if name == "." {
		return fs.Stat(files, name)
	}
	missing := &fs.PathError{Op: "look", Path: name, Err: fs.ErrNotExist}
	if parent, err := look(files, path.Dir(name)); err != nil {
		return nil, err
	} else if !parent.IsDir() || !served(path.Base(name)) {
		return nil, missing
	}
	info, err := fs.Lstat(files, name)
	if err != nil || info.IsDir() {
		return info, err
	}
	info, err = fileInfo(files, name, fs.FileInfoToDirEntry(info))
	if info == nil && err == nil {
		err = missing
	}
	return info, err
}

// Excess returns the problem of a skill whose folder exceeds the limits, or nil.
func Excess(ctx context.Context, skill *skills.Skill) *skills.Problem {
	if !Has(skill) {
		return nil
	}
	files, release, err := skillfs.Hold(skill.Files)
	if err != nil {
		return nil // loading has reported it
	}
	defer release()
	if _, excess, _ := tree(ctx, files); !excess {
		return nil
	}
	return &skills.Problem{
		Severity: skills.Warning, Path: skill.File,
		Message: fmt.Sprintf("the folder holds more than %d files or %d MiB; clients that read skills over MCP get no digests of it, and may refuse it", maxFiles, maxBytes>>20),
		Remedy:  "move what the skill does not need out of its folder",
	}
}

// head returns the first bytes of a file, or nil if it cannot be read. It cuts no
// character of a text.
func head(files fs.FS, name string) []byte {
	file, err := skillfs.OpenRegular(files, name)
	if err != nil {
		return nil
	}
	defer file.Close()
	data := make([]byte, 512)
	n, _ := io.ReadFull(file, data)
	data = data[:n]
	for cut := 0; n == cap(data) && cut < utf8.UTFMax; cut++ {
		if r, size := utf8.DecodeLastRune(data[:n-cut]); r != utf8.RuneError || size != 1 {
			return data[:n-cut]
		}
	}
	return data
}
