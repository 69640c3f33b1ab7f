// Package git fetches skills from Git repositories with the person's own git program and
// credentials. Nothing of a repository is checked out or run: files are read from the
// object database, so hooks, filters, attributes and submodules have no effect.
//
// Start with [New].
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Options configure a [Fetcher]. The zero value uses the git of PATH and no variables.
type Options struct {
	Program string // git; "" is the one of PATH
	// Env is the person's environment, as os.Environ returns it. Variables with which
	// git would run or read something else are left out.
	Env []string
	// Terminal lets git and ssh ask the person on the terminal of this process.
	Terminal bool
	// Public reports whether an address is of the public internet. Others are reached
	// only if the person named them; nil says yes.
	Public func(netip.Addr) bool
	// Idle bounds the time in which nothing comes; 0 is 60 s.
	Idle time.Duration
}

// A Fetcher fetches Git repositories.
type Fetcher struct{ options Options }

// New returns a fetcher. Nil options are the defaults.
func New(options *Options) *Fetcher {
	f := &Fetcher{}
	if options != nil {
		f.options = *options
	}
	f.options.Program = cmp.Or(f.options.Program, "git")
	f.options.Idle = cmp.Or(f.options.Idle, time.Minute)
	return f
}

// Fetch writes the files of a commit into a quarantine: those below the source's path,
// as one tree. Of a repository with more files than the quarantine holds it writes the
// folders with skills and plugins.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	limits := into.Limits()
	repo, err := f.open(ctx, r.Source, r.Named, into.Path(), limits.Total)
	if err != nil {
		return nil, err
	}
	defer repo.remove()
	repo.progress = r.Progress
	dir := strings.TrimPrefix(path.Clean("/"+r.Source.Path), "/")
	want := wanted{ref: r.Source.Ref, pin: r.Source.Pin, path: dir, partial: dir != ""}
	err = repo.obtain(ctx, &want)
	if errors.Is(err, errPackTooLarge) && !want.partial {
		want.partial = true // may be smaller without the files that are not wanted
		err = repo.obtain(ctx, &want)
	}
	if err != nil {
		return nil, repo.explain(err, want.ref)
	}
	c := &copier{repo: repo, limits: limits, into: into, names: r.Names}
	commit, err := c.copy(ctx, want)
	if err != nil {
		return nil, repo.explain(err, want.ref)
	}
	fetched := &source.Fetched{Revision: commit, Trees: []source.Tree{{Path: ".", In: want.path, Revision: commit}}, Notes: append(repo.notes(), c.notes()...)}
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
	if isCommit(s.Ref) {
		return strings.ToLower(s.Ref), nil
	}
	repo, err := f.open(ctx, s, true, "", maxRevisionPack)
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
	want := wanted{ref: s.Ref, path: s.Path, partial: true}
	if err := repo.obtain(ctx, &want); err != nil {
		return "", repo.explain(err, s.Ref)
	}
	commit, _, err := repo.commit(ctx, want.at)
	return commit, repo.explain(err, s.Ref)
}

// maxRevisionPack bounds the bytes that are fetched to find a commit by its beginning.
const maxRevisionPack = 256 << 20

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
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && isCommit(commit) {
			found[name] = commit
		}
	}
	return found, nil
}

// split returns the branch or tag that a path begins with, as in the address that a
// browser shows: "feature" and "x/pdf" may be the folder "pdf" of the branch "feature/x".
func (r refs) split(ref, dir string) (branch, rest string, ok bool) {
	whole := ref + "/" + dir
	for at := len(whole); at > len(ref); at = strings.LastIndexByte(whole[:at], '/') {
		if r.find(whole[:at]) != "" {
			return whole[:at], strings.Trim(whole[at:], "/"), true
		}
	}
	return "", "", false
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

// isCommit reports whether text is a full object name, of SHA-1 or SHA-256.
func isCommit(text string) bool { return (len(text) == 40 || len(text) == 64) && isHex(text) }

func isHex(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
}
