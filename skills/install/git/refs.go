package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// refs are the branches and tags of a repository with their commits.
type refs map[string]string

// find returns the commit of a ref by the order of gitrevisions(7), "" if there is none.
func (r refs) find(ref string) string {
	ref = cmp.Or(ref, "HEAD")
	for _, prefix := range []string{"", "refs/", "refs/tags/", "refs/heads/"} {
		if commit := cmp.Or(r[prefix+ref+"^{}"], r[prefix+ref]); commit != "" {
			return commit
		}
	}
	return ""
}

// names returns some branches and tags for an error.
func (r refs) names() string {
	var all []string
	for name := range r {
		short := strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/tags/")
		if !strings.HasSuffix(short, "^{}") {
			all = append(all, short)
		}
	}
	slices.Sort(all)
	if n := len(all); n > maxNamed {
		all = append(all[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
	}
	return strings.Join(all, ", ")
}

// maxNamed bounds the names in an error.
const maxNamed = 10

// list asks the server for a ref, or for all branches and tags if it is "*".
func (r *repository) list(ctx context.Context, ref string) (refs, error) {
	args := []string{"ls-remote", "--quiet"}
	if ref == "*" {
		args = append(args, "--heads", "--tags", "--", address)
	} else {
		ref = cmp.Or(ref, "HEAD")
		args = append(args, "--", address, ref, ref+"^{}")
	}
	out, err := r.run(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	found := refs{}
	for line := range strings.Lines(string(out)) {
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && source.IsCommit(commit) {
			found[name] = commit
		}
	}
	return found, nil
}
