package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"path/filepath"
)

// A tree is the entries of a folder that are copied, each after its parent, in
// sorted order.
type tree []entry

type entry struct {
	name   string
	kind   byte   // one of the below
	target string // of a link
}

const (
	folder     = 'd'
	file       = 'f'
	executable = 'x'
	link       = 'l'
)

// list reads which entries there are.
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
		e, size, err := classify(fsys, name, d)
		if err != nil || e.kind == 0 {
			return err
		}
		t = append(t, e)
		bytes += size
		if len(t) > MaxFiles || bytes > MaxBytes {
			return fmt.Errorf("the skill's folder is larger than %d files or %d MiB", MaxFiles, MaxBytes>>20)
		}
		return nil
	})
	return t, err
}

// classify says how an entry is copied; kind 0 is not at all.
func classify(fsys fs.FS, name string, d fs.DirEntry) (e entry, size int64, err error) {
	info, err := d.Info()
	if err != nil {
		return e, 0, err
	}
	switch {
	case d.IsDir():
		return entry{name: name, kind: folder}, 0, nil
	case d.Type()&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(fsys, name)
		if err != nil {
			return e, 0, err
		}
		target = filepath.ToSlash(target)
		if _, err := fs.Stat(fsys, name); err != nil || path.IsAbs(target) {
			return e, 0, nil // it leads out, or nowhere
		}
		return entry{name: name, kind: link, target: target}, 0, nil
	case !info.Mode().IsRegular():
		return e, 0, nil
	case info.Mode()&0o111 != 0:
		return entry{name: name, kind: executable}, info.Size(), nil
	}
	return entry{name: name, kind: file}, info.Size(), nil
}

// digest hashes the tree's entries as they are read, and copies them where w is
// not nil.
func (t tree) digest(ctx context.Context, fsys fs.FS, w *writer) (string, error) {
	all := sha256.New()
	for _, e := range t {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		content, err := e.copy(fsys, w)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%c %d:%s %s\n", e.kind, len(e.name), e.name, content)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}

// copy returns what stands for the entry's content in the digest.
func (e entry) copy(fsys fs.FS, w *writer) (content string, err error) {
	switch e.kind {
	case folder:
		if w != nil {
			return "", w.mkdir(e.name)
		}
		return "", nil
	case link:
		if w != nil {
			return e.target, w.link(e.name, e.target)
		}
		return e.target, nil
	}
	sum := sha256.New()
	if err := e.copyFile(fsys, w, sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (e entry) copyFile(fsys fs.FS, w *writer, sum hash.Hash) error {
	source, err := fsys.Open(e.name)
	if err != nil {
		return err
	}
	defer source.Close()
	// The file may have grown since it was listed.
	limited := io.LimitReader(source, MaxBytes)
	if w == nil {
		_, err := io.Copy(sum, limited)
		return err
	}
	copied, err := w.create(e.name, e.kind == executable)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.MultiWriter(sum, copied), limited)
	if closeErr := copied.Close(); err == nil {
		err = closeErr
	}
	return err
}
