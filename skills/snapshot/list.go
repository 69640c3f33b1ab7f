package snapshot

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"
	"unicode/utf8"
)

// list reads the entries of a source. The sums of those that have not changed since
// before are copied from there.
func (s *source) list(before *record) (tree, error) {
	s.listed = time.Now()
	l := lister{source: s, now: s.now(), before: before.byName()}
	if err := fs.WalkDir(s.files, ".", l.visit); err != nil {
		return nil, err
	}
	if l.hidden && l.links { // one may lead through a folder that is not listed
		l.tree[0].certain = false
	}
	return l.tree, nil
}

// A lister reads a tree.
type lister struct {
	source *source
	now    time.Time
	before map[string]*entry
	tree   tree
	bytes  uint64
	hidden bool // a folder was skipped
	links  bool // there is a link
}

// visit implements [fs.WalkDirFunc].
func (l *lister) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	// A name that is not UTF-8 is invalid in an fs.FS.
	if d.IsDir() && d.Name() == ".git" || !utf8.ValidString(d.Name()) {
		if !d.IsDir() {
			return nil
		}
		l.hidden = true
		return fs.SkipDir
	}
	l.links = l.links || d.Type()&fs.ModeSymlink != 0
	e, err := l.source.classify(name, d)
	if err != nil || e.kind == 0 {
		return err
	}
	e.certain = e.stamp.Certain(l.now)
	if was := l.before[name]; was != nil && was.certain && was.stamp == e.stamp {
		e.sum, e.read = was.sum, was.read
	}
	l.tree = append(l.tree, e)
	if e.isFile() {
		l.bytes += e.stamp.Size
	}
	if len(l.tree) > maxFiles+1 || l.bytes > maxBytes {
		return fmt.Errorf("the skill's folder is larger than %d files or %d MiB", maxFiles, maxBytes>>20)
	}
	return nil
}

// classify returns the entry to copy; kind 0 means none. A link that leads out, or
// nowhere, is one that is not copied: it can lead elsewhere only after a listed folder
// has changed.
func (s *source) classify(name string, d fs.DirEntry) (entry, error) {
	e := entry{name: name}
	var err error
	if e.stamp, err = s.look(name, d); err != nil {
		return entry{}, err
	}
	switch {
	case d.IsDir():
		e.kind = folder
	case d.Type()&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(s.files, name)
		if err != nil {
			return entry{}, err
		}
		if _, err := fs.Stat(s.files, name); err == nil && !path.IsAbs(filepath.ToSlash(target)) {
			e.kind, e.target = link, filepath.ToSlash(target)
		}
	case !d.Type().IsRegular():
	case e.stamp.Mode&0o111 != 0:
		e.kind = executable
	default:
		e.kind = file
	}
	return e, nil
}
