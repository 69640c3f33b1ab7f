package main

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// pins returns the accepted versions of skills, compared with their snapshots.
func (s *settings) pins(snapshots *snapshot.Store) *pins.Pins {
	return pins.New(s.store, func(ctx context.Context, skill *skills.Skill) (digest, folder string, err error) {
		use := run.UseOf(skill)
		use.Lease = s.Limits().Timeout
		taken, err := snapshots.Take(ctx, skill.Files, use)
		if err != nil {
			return "", "", err
		}
		return taken.Digest, taken.Dir, nil
	}, &pins.Options{Logger: s.logger})
}
