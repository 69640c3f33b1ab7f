package complete

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What one folder may cost. A larger one is completed as far as it was read.
const (
	maxEntries = 10_000
	maxTime    = time.Second // looked at between two reads of some entries
	atOnce     = 256
)

// maxText is the longest beginning of a path that is completed, in bytes: each of
// the paths found repeats it.
const maxText = 4 << 10

// Paths returns the paths in workspaces that a text is the beginning of: folders
// end with a slash, hidden files are only found by a text with their dot. A text
// that is not absolute begins in the first workspace. Nothing outside of the
// workspaces is looked at, by a link either.
//
// workspaces are absolute; all errors find nothing.
func Paths(ctx context.Context, workspaces []string, text string) List {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	if len(text) > maxText {
		return List{}
	}
	dir, base := split(text)
	for i, workspace := range workspaces {
		inside, ok := below(workspace, dir)
		if !ok && !(i == 0 && !path.IsAbs(dir)) {
			continue
		}
		if !ok {
			inside = dir
		}
		names, all := list(ctx, workspace, path.Clean(inside), base)
		for i := range names {
			names[i] = dir + names[i]
		}
		found := first(names)
		if !all {
			found.Total, found.More = 0, true
		}
		return found
	}
	return List{}
}

// split takes a text apart into a folder, "" or with its slash, and the beginning
// of a name.
func split(text string) (dir, base string) {
	at := strings.LastIndex(text, "/") + 1
	return text[:at], text[at:]
}

// below returns an absolute folder relative to a workspace that has it.
func below(workspace, dir string) (inside string, ok bool) {
	if !path.IsAbs(dir) {
		return "", false
	}
	rel, err := filepath.Rel(workspace, filepath.FromSlash(dir))
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// list returns the names in a folder of a workspace that begin so, sorted. all is
// false where not all of the folder was read.
func list(ctx context.Context, workspace, dir, base string) (names []string, all bool) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, true
	}
	defer root.Close()
	if info, err := root.Stat(dir); err != nil || !info.IsDir() { // opening a pipe would wait
		return nil, true
	}
	folder, err := root.Open(dir)
	if err != nil {
		return nil, true
	}
	defer folder.Close()
	for read := 0; read < maxEntries && ctx.Err() == nil; {
		entries, err := folder.ReadDir(atOnce)
		read += len(entries)
		for _, entry := range entries {
			if name, ok := shown(root, dir, base, entry); ok {
				names = append(names, name)
			}
		}
		if err != nil {
			all = errors.Is(err, io.EOF)
			break
		}
	}
	slices.Sort(names)
	return names, all
}

// shown returns an entry as it is listed, if it is.
func shown(root *os.Root, dir, base string, entry fs.DirEntry) (name string, ok bool) {
	name = entry.Name()
	switch {
	case !strings.HasPrefix(name, base), strings.HasPrefix(name, ".") && base == "":
		return "", false
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return "", false
	}
	isDir := entry.IsDir()
	if entry.Type()&fs.ModeSymlink != 0 {
		info, err := root.Stat(path.Join(dir, name)) // no further than the workspace
		if err != nil {
			return "", false
		}
		isDir = info.IsDir()
	}
	if isDir {
		name += "/"
	}
	return name, true
}
