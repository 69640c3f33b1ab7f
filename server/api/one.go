package api

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Find returns a skill itself, for its files. The error is a [*run.Error].
func (s *Service) Find(ctx context.Context, name string) (*skills.Skill, error) {
	f, _, err := s.one(ctx, name)
	return f.skill, err
}
