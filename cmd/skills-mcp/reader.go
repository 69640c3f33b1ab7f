package main

import (
	"context"
	"errors"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A reader reads the roots for a server, holds what skills need against where
// they would run, and has the workspaces looked at for what it found.
type reader struct {
	*settings
	scanner   *skills.Scanner
	activator *activator
}

// scan reads all of the roots, as a server's Load.
func (r *reader) scan(ctx context.Context) (*skills.Catalog, error) {
	return r.read(ctx, r.scanner.Scan)
}

// stale implements the server's Stale: it returns a function that reloads the changed
// files of the skill that a call names, or of a name without a skill.
func (r *reader) stale(name string, skill *skills.Skill, err error) (load func(context.Context) (*skills.Catalog, error)) {
	var paths []string
	if err == nil {
		paths = r.scanner.Stale(skill)
	} else {
		var file string
		if broken, ok := errors.AsType[*skills.BrokenError](err); ok {
			file = broken.Problem.Path
		}
		paths = r.scanner.Unread(name, file)
	}
	if len(paths) == 0 {
		return nil
	}
	return func(ctx context.Context) (*skills.Catalog, error) {
		return r.read(ctx, func(ctx context.Context) (*skills.Catalog, error) { return r.scanner.Rescan(ctx, paths) })
	}
}

// gated is what was read last, with what is known by now of where skills run.
func (r *reader) gated(ctx context.Context) (*skills.Catalog, error) {
	return r.read(ctx, func(ctx context.Context) (*skills.Catalog, error) { return r.scanner.Rescan(ctx, nil) })
}

// read finishes what load reads. Calls do not overlap.
func (r *reader) read(ctx context.Context, load func(context.Context) (*skills.Catalog, error)) (*skills.Catalog, error) {
	catalog, err := load(ctx)
	if err != nil {
		return nil, err
	}
	catalog = r.gate.Apply(catalog)
	r.activator.offer(catalog)
	return catalog, nil
}
