package snapshot

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"
	"unicode/utf8"
)

// Limits of one skill's folder. [Store.Take] fails on a larger one.
const (
	maxFiles = 20_000
	maxBytes = 256 << 20
)

// A tree lists the entries of a folder to copy, sorted, each after its parent.
type tree []entry

type entry struct {
	name   string
	kind   byte      // one of the below
	target string    // of a link
	size   int64     // of a file
	time   time.Time // of a file's last write
}

const (
	folder     = 'd'
	file       = 'f'
	executable = 'x'
	link       = 'l'
)

// list reads the entries of fsys.
func list(fsys fs.FS) (tree, error) {
	var t tree
	var bytes int64
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if !utf8.ValidString(d.Name()) { // invalid in an fs.FS
			return skip(d)
		}
		e, err := classify(fsys, name, d)
		if err != nil || e.kind == 0 {
			return err
		}
		t = append(t, e)
		bytes += e.size
		if len(t) > maxFiles || bytes > maxBytes {
			return fmt.Errorf("the skill's folder is larger than %d files or %d MiB", maxFiles, maxBytes>>20)
		}
		return nil
	})
	return t, err
}

// skip skips an entry with everything below it.
func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// classify returns the entry to copy; kind 0 means none.
func classify(fsys fs.FS, name string, d fs.DirEntry) (entry, error) {
	info, err := d.Info()
	if err != nil {
		return entry{}, err
	}
	switch {
	case d.IsDir():
		return entry{name: name, kind: folder}, nil
	case d.Type()&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(fsys, name)
		if err != nil {
			return entry{}, err
		}
		target = filepath.ToSlash(target)
		if _, err := fs.Stat(fsys, name); err != nil || path.IsAbs(target) {
			return entry{}, nil // it leads out, or nowhere
		}
		return entry{name: name, kind: link, target: target}, nil
	case !info.Mode().IsRegular():
		return entry{}, nil
	case info.Mode()&0o111 != 0:
		return entry{name: name, kind: executable, size: info.Size(), time: info.ModTime()}, nil
	}
	return entry{name: name, kind: file, size: info.Size(), time: info.ModTime()}, nil
}
