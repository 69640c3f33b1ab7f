package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A wanted is the part of a repository that is wanted. obtain completes it.
type wanted struct {
	ref, pin, path string
	partial        bool   // without the files, which copy gets
	at             string // the commit, as git finds it in the repository
}

// obtain fetches the wanted commit: it alone if the server can do that, else with as
// much of the history as is needed.
func (r *repository) obtain(ctx context.Context, w *wanted) error {
	name := w.pin
	if name == "" {
		name = w.ref
	}
	err := r.fetch(ctx, w, name)
	var failed *failure
	if !errors.As(err, &failed) {
		return err
	}
	switch {
	case failed.has("not support shallow"): // a server of plain files
		err = r.history(ctx, w, name, "")
	case isHex(name) && len(name) >= 4 && failed.has("couldn't find remote ref", "unadvertised object", "not our ref"):
		err = r.older(ctx, w, name)
	case failed.has("couldn't find remote ref"):
		err = r.missing(ctx, w)
	}
	return err
}

// fetch gets one commit without its history.
func (r *repository) fetch(ctx context.Context, w *wanted, name string) error {
	if err := r.clearConfig(); err != nil {
		return err
	}
	args := append(fetchArgs(), "--depth=1")
	if w.partial {
		args = append(args, "--filter=blob:none")
	}
	if name == "" {
		name = "HEAD"
	}
	w.at = "FETCH_HEAD"
	return r.exec(ctx, append(args, "--", address, name)...)
}

func (r *repository) exec(ctx context.Context, args ...string) error {
	_, err := r.run(ctx, "", args...)
	return err
}

func fetchArgs() []string {
	return []string{"fetch", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--progress"}
}

// older gets a commit that the server does not give by its name, or of which only the
// beginning is known: it looks for it in the history of all branches and tags.
func (r *repository) older(ctx context.Context, w *wanted, name string) error {
	if err := r.history(ctx, w, name, "tree:0"); err != nil {
		return err
	}
	commit, tree, err := r.commit(ctx, w.at)
	if err != nil || r.has(ctx, tree) { // the server knows no filters
		return err
	}
	if err := r.clear(); err != nil {
		return err
	}
	if err = r.fetch(ctx, w, commit); err == nil {
		return nil
	}
	return r.history(ctx, w, commit, "")
}

// history gets all branches and tags, without the objects that filter leaves out.
func (r *repository) history(ctx context.Context, w *wanted, name, filter string) error {
	if err := r.clear(); err != nil {
		return err
	}
	args := fetchArgs()
	if filter != "" {
		args = append(args, "--filter="+filter)
	}
	args = append(args, "--", address, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	if name == "" {
		args, name = append(args, "+HEAD:refs/skills/HEAD"), "refs/skills/HEAD"
	}
	w.at = name
	return r.exec(ctx, args...)
}

// missing looks for a ref that is not there: the first folders of the path may be the
// rest of its name.
func (r *repository) missing(ctx context.Context, w *wanted) error {
	all, err := r.list(ctx, "*")
	if err != nil {
		return err
	}
	if branch, rest, ok := all.split(w.ref, w.path); ok && w.path != "" {
		w.ref, w.path = branch, rest
		return r.fetch(ctx, w, branch)
	}
	if len(all) == 0 {
		return &Error{Problem: NotFound, Text: fmt.Sprintf("%s is no repository, or an empty one", r.url), Remedy: "correct the address"}
	}
	return &Error{Problem: NoRef, Text: fmt.Sprintf("the repository has no branch, tag or commit %q", w.ref), Remedy: "choose one of: " + all.names()}
}

// fill gets the files that a partial fetch has left out.
func (r *repository) fill(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := r.clearConfig(); err != nil {
		return err
	}
	args := append(fetchArgs(), "--no-write-fetch-head", "--stdin", "--", address)
	_, err := r.run(ctx, strings.Join(ids, "\n")+"\n", args...)
	return err
}
