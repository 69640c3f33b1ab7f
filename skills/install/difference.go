package install

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// A DifferenceKind is a kind of [Difference].
type DifferenceKind string

// The kinds of differences.
const (
	Missing DifferenceKind = "missing"
	Changed DifferenceKind = "changed" // the content
	Added   DifferenceKind = "added"
	Mode    DifferenceKind = "mode" // may be executed, or may not
	Link    DifferenceKind = "link" // a link leads elsewhere, or is one now, or none
)

// A Difference is one way in which the disk differs from the lock.
type Difference struct {
	Path string         `json:"path"`           // of the entry in the lock
	File string         `json:"file,omitempty"` // slash-separated in the entry; "" is its folder
	Kind DifferenceKind `json:"kind"`
}

// differences compares one entry with its state, sorted by file.
func differences(ctx context.Context, target Target, entry string, state *lock.State) ([]Difference, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	root := skillfs.DirFS(target.Dir)
	info, err := root.Lstat(entry)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Difference{{entry, "", Missing}}, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return []Difference{{entry, "", Link}}, nil
	case !info.IsDir():
		return []Difference{{entry, "", Changed}}, nil
	}
	folder, err := root.HoldSub(entry)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	found, err := lock.Files(ctx, folder)
	if err != nil {
		return nil, err
	}
	all := compareFiles(entry, state.Files, found)
	if len(all) > 0 || !hasModes {
		return all, nil
	}
	// Folders without files, and a lock whose digest is not that of its files.
	if digest, err := snapshot.Digest(ctx, folder); err != nil || digest != state.Digest {
		return []Difference{{entry, "", Changed}}, err
	}
	return nil, nil
}

func compareFiles(entry string, was, is map[string]lock.FileState) (all []Difference) {
	for name, w := range was {
		now, there := is[name]
		if kind := kindOf(w, now, there); kind != "" {
			all = append(all, Difference{entry, name, kind})
		}
	}
	for name := range is {
		if _, known := was[name]; !known {
			all = append(all, Difference{entry, name, Added})
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return cmp.Compare(a.File, b.File) })
	return all
}

// kindOf returns how a file differs from the installed one, "" if it does not.
func kindOf(was, is lock.FileState, there bool) DifferenceKind {
	switch {
	case !there:
		return Missing
	case equal(was, is):
		return ""
	case was.Link != is.Link:
		return Link
	case was.Digest != is.Digest:
		return Changed
	}
	return Mode
}

// equal reports whether a file is the one that was installed. Windows has no mode for
// programs.
func equal(was, is lock.FileState) bool {
	if !hasModes {
		was.Executable, is.Executable = false, false
	}
	return was == is
}

// hasModes reports whether files can be marked as programs.
const hasModes = filepath.Separator != '\\'
