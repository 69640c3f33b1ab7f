package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A repository is an empty bare repository that objects are fetched into.
type repository struct {
	*location
	fetcher  *Fetcher
	dir      string
	env      []string
	limit    int64 // bytes on disk
	progress func(done, total int64)
}

// open makes a repository below parent, an absolute host path; "" is the folder for
// temporary files. It is empty: git would copy hooks into one that it makes.
func (f *Fetcher) open(ctx context.Context, s source.Source, named bool, parent string, limit int64) (*repository, error) {
	l, err := f.locate(ctx, s.Location, named)
	if err != nil {
		return nil, err
	}
	if !source.IsRef(s.Ref) || s.Pin != "" && !source.IsCommit(s.Pin) {
		return nil, refuse("no branch, tag or commit has the name "+strconv.Quote(s.Ref+s.Pin), "correct it")
	}
	dir, err := os.MkdirTemp(parent, ".fetch-*")
	if err != nil {
		return nil, err
	}
	r := &repository{location: l, fetcher: f, dir: dir, env: f.environment(l.protocols), limit: limit}
	if err := r.make(); err != nil {
		r.remove()
		return nil, err
	}
	return r, nil
}

// make makes an empty repository (gitrepository-layout(5)).
func (r *repository) make() error {
	for _, name := range []string{"objects/pack", "refs"} {
		if err := os.MkdirAll(filepath.Join(r.dir, filepath.FromSlash(name)), 0o700); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.dir, "HEAD"), []byte("ref: refs/skills/none\n"), 0o600)
}

func (r *repository) remove() { os.RemoveAll(r.dir) }

// clearConfig removes the note of a partial fetch, with which git would get each missing
// object alone.
func (r *repository) clearConfig() error {
	err := os.Remove(filepath.Join(r.dir, "config"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
