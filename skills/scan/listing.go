package scan

import (
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A listing has the names and types of a folder's entries, sorted by name; nil is
// unknown.
type listing []fs.DirEntry

// An Entry is the name and type of an entry of a folder. The system's entries hold more.
type Entry struct {
	name string
	mode fs.FileMode // the type
}

// NewEntry returns an entry, whose address is a [fs.DirEntry] without Info.
func NewEntry(name string, mode fs.FileMode) Entry { return Entry{name, mode} }

// Name implements [fs.DirEntry].
func (e *Entry) Name() string { return e.name }

// IsDir implements [fs.DirEntry].
func (e *Entry) IsDir() bool { return e.mode.IsDir() }

// Type implements [fs.DirEntry].
func (e *Entry) Type() fs.FileMode { return e.mode }

// Info implements [fs.DirEntry].
func (e *Entry) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// newListing returns a listing, not nil, of a folder's entries.
func newListing(entries []fs.DirEntry) listing {
	l, all := make(listing, len(entries)), make([]Entry, len(entries))
	for i, e := range entries {
		all[i] = Entry{e.Name(), e.Type()}
		l[i] = &all[i]
	}
	return l
}

// share calls do for 0 to n-1, on all processors.
func share(n int, do func(i int)) {
	const most = 16 // at a time: handing out one by one costs more than a folder
	workers := min(runtime.GOMAXPROCS(0), (n+most-1)/most)
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	starts := make(chan int)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for start := range starts {
				for i := start; i < min(start+most, n); i++ {
					do(i)
				}
			}
		})
	}
	for start := 0; start < n; start += most {
		starts <- start
	}
	close(starts)
	running.Wait()
}

// Skip reports whether folders of this name are never entered.
func Skip(name string) bool {
	switch name {
	case ".git", "node_modules", ".venv", "__pycache__":
		return true
	}
	return false
}

// isSkillFile accepts SKILL.md as people write it.
func isSkillFile(entry fs.DirEntry) bool {
	return strings.EqualFold(entry.Name(), "SKILL.md") && !entry.IsDir()
}

// skillFile returns the name of the SKILL.md among a folder's sorted entries, or
// "". Capitals sort first, so of several SKILL.md itself is preferred.
func skillFile(entries []fs.DirEntry) string {
	if i := slices.IndexFunc(entries, isSkillFile); i >= 0 {
		return entries[i].Name()
	}
	return ""
}

// has reports whether there is a file of this name among a folder's entries.
func has(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && !e.IsDir() })
}

// hasFolder reports whether there may be a folder of this name among a folder's
// entries.
func hasFolder(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

func findSkillFile(fsys fs.FS, dir string) string {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return ""
	}
	return skillFile(entries)
}

// firstFile returns the first of names, paths in dir, that is a regular file, or "".
// entries are the folder's; nil is unknown.
func firstFile(fsys fs.FS, dir string, names []string, entries []fs.DirEntry) string {
	for _, name := range names {
		first, _, _ := strings.Cut(name, "/")
		if entries != nil && !hasFolder(entries, first) {
			continue
		}
		at := path.Join(dir, name)
		if info, err := fs.Stat(fsys, at); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
	return ""
}

// manifests are the paths of a plugin's manifest in its folder: for Claude Code, for
// Codex, as others have it, and for Gemini CLI. The first one counts.
var manifests = [...]string{".claude-plugin/plugin.json", ".codex-plugin/plugin.json", plainManifest, geminiManifest}

const (
	plainManifest  = "plugin.json"
	geminiManifest = "gemini-extension.json"
)

// findManifest returns the path of the manifest in a folder, or "". The entries of
// the folder may be nil.
func findManifest(fsys fs.FS, dir string, entries []fs.DirEntry) string {
	return firstFile(fsys, dir, manifests[:], entries)
}

// plain reports whether a folder holds nothing but text: no folder, and no file
// that could be a script.
func plain(entries []fs.DirEntry) bool {
	for _, entry := range entries {
		switch strings.ToLower(path.Ext(entry.Name())) {
		case ".md", ".txt":
			if !entry.IsDir() {
				continue
			}
		}
		return false
	}
	return true
}
