package install

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"reflect"
	"runtime"
	"slices"
	"sync"

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

// maxTries bounds the verifications of one request while other processes change the lock.
const maxTries = 3

// Verify compares the files of entries with the lock. Names choose entries; none is all.
// It needs no network and changes nothing but a change that an earlier process did not end.
func (i *Installer) Verify(ctx context.Context, names ...string) ([]Difference, error) {
	for try := 1; ; try++ {
		f, err := i.settled(ctx)
		if err != nil {
			return nil, err
		}
		chosen, err := choose(f, names)
		if err != nil {
			return nil, err
		}
		found, err := i.verify(ctx, f, chosen)
		if err != nil || len(found) == 0 || try == maxTries {
			return found, err
		}
		if again, err := i.Installed(); err == nil && reflect.DeepEqual(f, again) {
			return found, nil
		}
	}
}

// settled returns the content of the lock file when no change is under way. A target that
// cannot be written to needs none.
func (i *Installer) settled(ctx context.Context) (*lock.File, error) {
	f, err := i.Installed()
	if err != nil || !pending(f) {
		return f, err
	}
	c, err := i.begin(ctx)
	if err != nil {
		return nil, err
	}
	return c.File, c.Close()
}

// verify compares entries, several at a time.
func (i *Installer) verify(ctx context.Context, f *lock.File, chosen []string) ([]Difference, error) {
	var workers sync.WaitGroup
	results, errs, todo := make([][]Difference, len(chosen)), make([]error, len(chosen)), make(chan int)
	for range min(len(chosen), 2*runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for n := range todo {
				results[n], errs[n] = differences(ctx, i.target, chosen[n], &f.Entries[chosen[n]].State)
			}
		})
	}
	for n := range chosen {
		todo <- n
	}
	close(todo)
	workers.Wait()
	return slices.Concat(results...), errors.Join(errs...)
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
