package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A wanted is the part of a repository that is wanted.
type wanted struct{ ref, pin, path string }

// partial reports whether the files are fetched later: those of one folder are few.
func (w wanted) partial() bool { return w.path != "" }

// obtain fetches the wanted commit without its history. Servers give each commit by its
// whole id (gitprotocol-v2(5), "fetch").
func (r *repository) obtain(ctx context.Context, w wanted) error {
	name := cmp.Or(w.pin, w.ref)
	err := r.fetch(ctx, w, name)
	var failed *failure
	if errors.As(err, &failed) && failed.has("couldn't find remote ref", "unadvertised object", "not our ref") {
		return r.missing(ctx, name)
	}
	return err
}

func (r *repository) fetch(ctx context.Context, w wanted, name string) error {
	if err := r.clearConfig(); err != nil {
		return err
	}
	args := append(fetchArgs(), "--depth=1")
	if w.partial() {
		args = append(args, "--filter=blob:none")
	}
	if name == "" {
		name = "HEAD"
	}
	_, err := r.run(ctx, "", append(args, "--", address, name)...)
	return err
}

func fetchArgs() []string {
	return []string{"fetch", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--progress"}
}

// missing returns the error for a ref that is not there.
func (r *repository) missing(ctx context.Context, name string) error {
	all, err := r.list(ctx, "*")
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return &Error{Problem: NotFound, Text: fmt.Sprintf("%s is no repository, or an empty one", r.url), Remedy: "correct the address"}
	}
	return &Error{Problem: NoRef, Text: fmt.Sprintf("the repository has no branch, tag or whole commit id %q", name), Remedy: "choose one of: " + all.names()}
}

// fill gets the files that a partial fetch has left out: git asks for none that it has, as
// from a server that sends all.
func (r *repository) fill(ctx context.Context, files []file) error {
	if len(files) == 0 {
		return nil
	}
	if err := r.clearConfig(); err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, f := range files {
		ids[f.id] = true
	}
	args := append(fetchArgs(), "--no-write-fetch-head", "--stdin", "--", address)
	_, err := r.run(ctx, strings.Join(slices.Sorted(maps.Keys(ids)), "\n")+"\n", args...)
	return err
}
