package adopt

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// describe returns the state of a skill's folder: its name, files, digest and surface.
func describe(ctx context.Context, files skillfs.Dir, host string) (*lock.State, error) {
	s := &lock.State{Kind: "skill"}
	var err error
	if s.Files, err = lock.Files(ctx, files); err != nil {
		return nil, err
	}
	if s.Digest, err = snapshot.Digest(ctx, files); err != nil {
		return nil, err
	}
	catalog, err := scan.Scan(ctx, []scan.Root{{Source: skills.SourceExtra, Dir: host}}, nil)
	if err != nil {
		return nil, err
	}
	for _, skill := range catalog.Skills {
		if skill.Of != nil || skill.Dir == "" {
			continue
		}
		own, err := surface.Of(skill, files)
		if err != nil {
			return nil, err
		}
		s.Name, s.Surface = skill.Name, own.Items
		return s, nil
	}
	return nil, &source.RefusedError{Reason: "there is no skill in it that loads", Remedy: "run skills-mcp check on it"}
}
