package git

import (
	"context"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Fetch writes the files of a commit into a quarantine: those below the source's path,
// as one tree. It refuses more files than the quarantine holds.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	limits := into.Limits()
	repo, err := f.open(ctx, r.Source, r.Named, into.Path(), limits.Total)
	if err != nil {
		return nil, err
	}
	defer repo.remove()
	repo.progress = r.Progress
	dir := strings.TrimPrefix(path.Clean("/"+r.Source.Path), "/")
	want := wanted{ref: r.Source.Ref, pin: r.Source.Pin, path: dir}
	if err := repo.obtain(ctx, want); err != nil {
		return nil, repo.explain(err, want.ref)
	}
	c := &copier{repo: repo, limits: limits, into: into}
	commit, err := c.copy(ctx, want)
	if err != nil {
		return nil, repo.explain(err, want.ref)
	}
	fetched := &source.Fetched{Revision: commit, Trees: []source.Tree{{Path: ".", In: dir, Revision: commit}}, Notes: c.notes()}
	if want.pin != "" {
		fetched.Checked = []string{"the commit " + commit + ", named by the source"}
	}
	return fetched, nil
}

// Revision returns the commit that Fetch would get now.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (string, error) {
	if s.Pin != "" {
		return strings.ToLower(s.Pin), nil
	}
	if source.IsCommit(s.Ref) {
		return strings.ToLower(s.Ref), nil
	}
	repo, err := f.open(ctx, s, true, "", 0)
	if err != nil {
		return "", err
	}
	defer repo.remove()
	refs, err := repo.list(ctx, s.Ref)
	if err != nil {
		return "", repo.explain(err, s.Ref)
	}
	if commit := refs.find(s.Ref); commit != "" {
		return commit, nil
	}
	return "", repo.explain(repo.missing(ctx, s.Ref), s.Ref)
}
