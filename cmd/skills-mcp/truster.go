package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// pins returns the accepted versions of skills, compared with their snapshots.
func (s *settings) pins(snapshots *snapshot.Store) *pins.Pins {
	return pins.New(s.store, s.key, func(ctx context.Context, skill *skills.Skill, had string) (digest, folder string, err error) {
		use := run.UseOf(skill)
		if had != "" {
			return had, snapshots.Find(ctx, use, had), nil
		}
		use.Lease = s.Limits().Timeout
		taken, err := snapshots.Take(ctx, skill.Files, use)
		if err != nil {
			return "", "", err
		}
		return taken.Digest, taken.Dir, nil
	}, &pins.Options{Logger: s.logger})
}

// openPins returns the accepted versions of skills: those of the server, if one runs.
func (s *settings) openPins() (*pins.Pins, error) {
	if s.sandboxes.pins != nil {
		return s.sandboxes.pins, nil
	}
	snapshots, err := openSnapshots()
	if err != nil {
		return nil, err
	}
	return s.pins(snapshots), nil
}

// decided returns the catalog with the skills marked that are blocked, and those that the
// person has pinned.
func decided(ctx context.Context, s *settings, catalog *skills.Catalog) *skills.Catalog {
	return s.pins(nil).Apply(ctx, s.sandboxes.rules.Book.Apply(ctx, catalog))
}

// A truster trusts workspaces and accepts their skills as they are: one that comes later,
// or that could not be shown, is asked about.
type truster struct{ *settings }

// Trust implements the workspaces of package approval.
func (t truster) Trust(ctx context.Context, proposed *run.Trust) error {
	all, err := t.openPins()
	if err != nil {
		return err
	}
	all.AcceptAll(ctx, t.trust.Skills(proposed))
	return t.trust.Trust(ctx, proposed)
}

// scannedFor returns the settings for one workspace, whose skills have been read.
func (a *app) scannedFor(ctx context.Context, workspace string) (*settings, error) {
	s, _, err := a.workspaceOf([]string{workspace})
	if err == nil {
		_, err = s.scan(ctx)
	}
	return s, err
}

// workspaceOf returns the settings for one workspace, and its path: the named folder, or
// else the only workspace there is.
func (a *app) workspaceOf(args []string) (*settings, string, error) {
	if len(args) > 0 {
		a.flags.workspaces = args
	}
	s, err := a.settings()
	if err != nil {
		return nil, "", err
	}
	switch len(s.workspaces.folders) {
	case 0:
		return nil, "", usageError(errors.New("there is no workspace here; name its folder"))
	case 1:
		return s, s.workspaces.folders[0], nil
	}
	return nil, "", usageError(fmt.Errorf("there are %d workspaces; name the folder of one", len(s.workspaces.folders)))
}
