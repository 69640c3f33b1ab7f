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
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A tree is the entries of a folder that are copied, each after its parent, in
// sorted order.
type tree []entry

type entry struct {
	name   string
	kind   byte      // one of the below
	target string    // of a link
	size   int64     // of a file
	time   time.Time // of a file, when it was last written
}

const (
	folder     = 'd'
	file       = 'f'
	executable = 'x'
	link       = 'l'
)

const (
	// quiet is the time without a write after which a folder counts as settled.
	quiet = 50 * time.Millisecond
	// quietEmpty is the same for an empty file: on a busy machine tens of
	// milliseconds pass between emptying a file and writing it.
	quietEmpty = 500 * time.Millisecond
	// settleTimeout bounds the wait for that.
	settleTimeout = time.Second
)

// settled reads which entries there are, once nobody writes to them. A file that
// is rewritten in place is empty for a moment.
func settled(ctx context.Context, fsys fs.FS) (tree, error) {
	end := time.Now().Add(settleTimeout)
	for {
		t, err := list(fsys)
		if err != nil {
			return nil, err
		}
		rest := t.unquiet(time.Now())
		if rest <= 0 || time.Now().After(end) {
			return t, nil
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// unquiet returns how long it takes from now until no file was just written. A
// file whose time is yet to come says nothing.
func (t tree) unquiet(now time.Time) time.Duration {
	rest := time.Duration(0)
	for _, e := range t {
		wanted := quiet
		if e.size == 0 {
			wanted = quietEmpty
		}
		if age := now.Sub(e.time); age > -quiet {
			rest = max(rest, min(quiet, wanted-age))
		}
	}
	return rest
}

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
		if !utf8.ValidString(d.Name()) { // file systems of Go do not know such names
			return skip(d)
		}
		e, err := classify(fsys, name, d)
		if err != nil || e.kind == 0 {
			return err
		}
		t = append(t, e)
		bytes += e.size
		if len(t) > MaxFiles || bytes > MaxBytes {
			return fmt.Errorf("the skill's folder is larger than %d files or %d MiB", MaxFiles, MaxBytes>>20)
		}
		return nil
	})
	return t, err
}

// skip passes over an entry, and over what is below it.
func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// classify says how an entry is copied; kind 0 is not at all.
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
		fmt.Fprintf(all, "%c %d:%s %d:%s\n", e.kind, len(e.name), e.name, len(content), content)
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

// copyFile reads a file as it was listed: what others put in its place, or write
// to it meanwhile, must neither block nor fill the disk.
func (e entry) copyFile(fsys fs.FS, w *writer, sum hash.Hash) error {
	source, err := skillfs.OpenRegular(fsys, e.name)
	if err != nil {
		return err
	}
	defer source.Close()
	if w == nil {
		return e.copyBytes(sum, source)
	}
	copied, err := w.create(e.name, e.kind == executable)
	if err != nil {
		return err
	}
	err = e.copyBytes(io.MultiWriter(sum, copied), source)
	if closeErr := copied.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (e entry) copyBytes(to io.Writer, from io.Reader) error {
	n, err := io.Copy(to, io.LimitReader(from, e.size+1))
	if err == nil && n != e.size {
		err = fmt.Errorf("%s has %w", e.name, errChanged)
	}
	return err
}
