package api

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/describe"
)

// Skills returns a page of the skills that a query selects.
func (s *Service) Skills(ctx context.Context, q SkillQuery) (*SkillPage, error) { panic("TODO") }

// Skill describes a skill in full.
func (s *Service) Skill(ctx context.Context, name string) (*describe.Skill, error) { panic("TODO") }

// Plugins describes the plugins.
func (s *Service) Plugins(ctx context.Context) ([]describe.Plugin, error) { panic("TODO") }

// SetEnabled enables or disables a skill, which only a person may.
func (s *Service) SetEnabled(ctx context.Context, name string, enabled bool) error { panic("TODO") }

// SetPinned keeps the tool of a skill, or no longer, which only a person may.
func (s *Service) SetPinned(ctx context.Context, name string, pinned bool) error { panic("TODO") }

// Doctor diagnoses the machine, for a person.
func (s *Service) Doctor(ctx context.Context) (*Diagnosis, error) { panic("TODO") }
