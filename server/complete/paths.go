package complete

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEntries bounds the entries of a folder that are read. A larger one is completed as
// far as it was read.
const maxEntries = 10_000

// maxText is the longest text that is completed, in bytes: each result repeats it.
const maxText = 4 << 10

// Paths returns the paths in workspaces that begin with a text. Folders end with a slash;
// hidden files need a text with their dot. A relative text is completed in the first
// workspace. Nothing outside of the workspaces is read, nor through a link.
//
// workspaces are absolute. After any error the list is empty.
func Paths(workspaces []string, text string) List {
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
		names, all := list(workspace, path.Clean(inside), base)
		for i := range names {
			names[i] = dir + names[i]
		}
		found := First(names)
		if !all {
			found.Total, found.More = 0, true
		}
		return found
	}
	return List{}
}

// split returns the folder of a text, "" or with its slash, and the beginning of a name.
func split(text string) (dir, base string) {
	at := strings.LastIndex(text, "/") + 1
	return text[:at], text[at:]
}

// below returns an absolute folder relative to a workspace. ok is false if it is not
// below it.
func below(workspace, dir string) (inside string, ok bool) {
	if !path.IsAbs(dir) {
		return "", false
	}
	rel, err := filepath.Rel(workspace, filepath.FromSlash(dir))
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// list returns the names in a folder of a workspace that begin with base, sorted. all is
// false if the folder was not read to its end.
func list(workspace, dir, base string) (names []string, all bool) {
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
	entries, err := folder.ReadDir(maxEntries)
	for _, entry := range entries {
		if name, ok := shown(root, dir, base, entry); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, len(entries) < maxEntries && (err == nil || errors.Is(err, io.EOF))
}

// shown returns the name of an entry as it is listed. ok is false if it is not listed.
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
