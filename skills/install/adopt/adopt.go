// Package adopt takes over the skills that other tools have installed: the skills tool of
// npm, gh and ClawHub. It reads their lock files, finds the folders, and
// recomputes the hashes that are recorded. It fetches nothing and changes no file of
// theirs.
//
// Start with [Find].
package adopt

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Find returns the entries of all tools in the order of their paths, and an error for
// each lock file that cannot be read. A folder that several tools claim is one candidate.
func Find(ctx context.Context, o Options) ([]*Candidate, error) {
	a, err := newAdopter(ctx, o)
	if err != nil {
		return nil, err
	}
	defer a.files.Close()
	for _, read := range []func() ([]*record, error){a.projectLock, a.personLock, a.clawhub, a.stampedByGH} {
		records, err := read()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			a.errs = append(a.errs, err)
		}
		for _, r := range records {
			a.add(ctx, r)
		}
	}
	slices.SortStableFunc(a.found, func(x, y *Candidate) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Name, y.Name))
	})
	return a.found, errors.Join(a.errs...)
}

func newAdopter(ctx context.Context, o Options) (*adopter, error) {
	files, err := skillfs.DirFS(o.Dir).Hold()
	if err != nil {
		return nil, err
	}
	a := &adopter{Options: o, files: files, taken: map[string]bool{}}
	a.folders = a.findFolders(ctx)
	return a, nil
}

// add makes a candidate of a record, unless an earlier one has its folder.
func (a *adopter) add(ctx context.Context, r *record) {
	c := &Candidate{Tool: r.tool, Lock: r.lock, Name: r.name}
	folders := a.foldersOf(r)
	if len(folders) > 0 {
		c.Path, c.Copies = folders[0], folders[1:]
	}
	if key := strings.ToLower(c.Path); c.Path != "" {
		if a.taken[key] {
			return
		}
		a.taken[key] = true
	}
	err := r.err
	if c.Path == "" && err == nil {
		err = &source.RefusedError{Reason: "its folder is not there", Remedy: "remove the entry with " + r.tool}
	}
	if err == nil {
		c.State, err = a.describe(ctx, r, c.Path)
	}
	if err != nil {
		c.State, c.Reason = nil, err.Error()
		if refused, ok := errors.AsType[*source.RefusedError](err); ok {
			c.Reason, c.Remedy = refused.Reason, refused.Remedy
		}
	}
	a.found = append(a.found, c)
}

// describe returns the state of a record's folder, with the claims that hold.
func (a *adopter) describe(ctx context.Context, r *record, dir string) (*lock.State, error) {
	files, err := a.files.HoldSub(dir)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	s, err := describe(ctx, files, filepath.Join(a.Dir, filepath.FromSlash(dir)))
	if err != nil {
		return nil, err
	}
	s.Source, s.Revision, s.Path = r.source, r.revision, r.path
	s.Name = cmp.Or(s.Name, path.Base(dir))
	s.Installed = r.installed
	if s.Installed.IsZero() {
		s.Installed = time.Now().UTC().Truncate(time.Second)
	}
	if claim := r.recorded; claim != nil {
		hash, err := claim.sum(ctx, files, s.Files)
		switch {
		case err != nil:
			return nil, err
		case hash == claim.hash:
			s.Checked = append(s.Checked, claim.name)
		default:
			s.Unproved = append(s.Unproved, claim.name+": the files are others now; they were edited, or the tool left some out")
		}
	}
	s.Unproved = append(s.Unproved, r.unproved...)
	s.Unproved = append(s.Unproved, "that the source has these files: nothing was fetched")
	return s, nil
}
