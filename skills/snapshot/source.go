package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// errChanged is the error of a file that was written while it was read.
var errChanged = errors.New("changed while it was read")

// onHost is a file system that is a folder of the host, or a package there.
type onHost interface {
	Path() string // absolute; "" for none
}

// A place is the host folder in which changes of a skill show, and the name of its
// package there, or "" if the folder is the skill's.
type place struct{ dir, name string }

// placeOf returns the place of a file system; ok is false for one that is not on the
// host.
func placeOf(files fs.FS) (at place, ok bool) {
	hosted, ok := files.(onHost)
	if !ok || hosted.Path() == "" {
		return place{}, false
	}
	if _, packed := files.(skillfs.Package); packed {
		return place{filepath.Dir(hosted.Path()), filepath.Base(hosted.Path())}, true
	}
	return place{hosted.Path(), ""}, true
}

// A source is the files of a skill, held open for reading all of them.
type source struct {
	files   fs.FS
	at      place
	folder  *stamp.Folder // at; nil for files that are not on the host
	packed  tree          // the package, for a skill in one
	now     func() time.Time
	release func()    // of files
	listed  time.Time // when the last list began
}

// openSource opens the files of a skill. The caller closes the source.
func openSource(files fs.FS, now func() time.Time) (*source, error) {
	held, release, err := hold(files)
	if err != nil {
		return nil, err
	}
	s := &source{files: held, now: now, release: release}
	if at, ok := placeOf(files); ok {
		s.at = at
		if err := s.openFolder(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func hold(files fs.FS) (fs.FS, func(), error) {
	dir, ok := files.(skillfs.Dir)
	if !ok {
		return skillfs.Hold(files)
	}
	held, err := dir.Hold()
	return held, func() { _ = held.Close() }, err
}

// openFolder opens the folder for stamps. The error is errChanged if it is not the one
// that is held.
func (s *source) openFolder() (err error) {
	if s.folder, err = stamp.OpenFolder(s.at.dir); err != nil {
		return err
	}
	if s.at.name != "" {
		return s.openPackage()
	}
	held, err := fs.Stat(s.files, ".")
	if err != nil {
		return err
	}
	found, err := s.folder.Look(".")
	if is := stamp.Of(held); err == nil && (is.Dev != found.Dev || is.Ino != found.Ino) {
		err = fmt.Errorf("the folder has %w", errChanged)
	}
	return err
}

func (s *source) openPackage() error {
	now := s.now()
	found, err := s.folder.Look(s.at.name)
	s.packed = tree{{name: s.at.name, kind: file, stamp: found, certain: found.Certain(now)}}
	return err
}

func (s *source) close() {
	if s.folder != nil {
		_ = s.folder.Close()
	}
	s.release()
}

// look returns the stamp of an entry.
func (s *source) look(name string, d fs.DirEntry) (stamp.Stamp, error) {
	if s.folder != nil && s.packed == nil {
		found, err := s.folder.Look(name)
		if err != nil {
			err = &fs.PathError{Op: "stat", Path: name, Err: err}
		}
		return found, err
	}
	info, err := d.Info()
	if err != nil {
		return stamp.Stamp{}, err
	}
	return stamp.Of(info), nil
}

// watched returns the entries whose stamps show changes of the tree t.
func (s *source) watched(t tree) tree {
	if s.packed != nil {
		return s.packed
	}
	return t
}

// sum reads the files of t that have no sum yet.
func (s *source) sum(ctx context.Context, t tree) error {
	for i := range t {
		e := &t[i]
		if !e.isFile() || e.read {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.copy(e, nil); err != nil {
			return err
		}
	}
	return nil
}

// copy reads the listed size of a file, sets its sum, and writes the content to w,
// unless that is nil. Anything that replaced it meanwhile, or that others write to it,
// must neither block nor fill the disk. That the file has more is found by its stamp,
// if it has one: so a log that grows all the time can be read.
func (s *source) copy(e *entry, w io.Writer) error {
	opened, err := skillfs.OpenRegular(s.files, e.name)
	if err != nil {
		return err
	}
	defer opened.Close()
	sum := sha256.New()
	if w == nil {
		w = sum
	} else {
		w = io.MultiWriter(sum, w)
	}
	size := int64(e.stamp.Size)
	most := size
	if s.folder == nil {
		most++
	}
	n, err := io.Copy(w, io.LimitReader(opened, most))
	if err == nil && n != size {
		err = fmt.Errorf("%s has %w", e.name, errChanged)
	}
	e.sum, e.read = [sha256.Size]byte(sum.Sum(nil)), err == nil
	return err
}
